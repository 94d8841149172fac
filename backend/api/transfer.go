package api

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/documents"
	"contextinfinity/backend/exporting"
	"contextinfinity/backend/filetype"
	"contextinfinity/backend/importing"
	"contextinfinity/backend/internal/plainfile"
	"contextinfinity/backend/tasks"
	"contextinfinity/backend/transfer"
)

// Transfer imports and exports conversations, and attaches files (SPEC 12).
type Transfer struct {
	c       *Core
	imports func(context.Context, string, importing.Options) (importing.Report, error)
	exports exports
}

// exports writes conversations to files: exporting.Exporter, and a script in tests of what a task does with it.
type exports interface {
	Plan(context.Context, exporting.Request) (exporting.Plan, error)
	Write(context.Context, exporting.Request, exporting.Progress) (exporting.Result, error)
	WriteTo(context.Context, exporting.Request, io.Writer, exporting.Progress) (exporting.Result, error)
}

// NewTransfer returns the service. From then on, interrupted imports can be resumed.
func NewTransfer(c *Core) *Transfer {
	s := &Transfer{c: c}
	if c.Fatal == nil {
		s.imports, s.exports = c.Imports.Import, c.Exports
	}
	if c.Tasks != nil {
		c.Tasks.SetResumer(tasks.Import, func(input json.RawMessage) (tasks.Run, error) {
			var i importInput
			if err := json.Unmarshal(input, &i); err != nil {
				return nil, chat.WrapError(chat.CodeCorrupt, "import.resume", err, "The file to import is no longer known.").WithHint("choose the file again")
			}
			return s.importing(i), nil
		})
	}
	return s
}

// Inspect detects the kinds of files, by content, not only by name.
func (s *Transfer) Inspect(paths []string) ([]DroppedFile, error) { return filetype.DetectAll(paths) }

func noShell(op string) error {
	return chat.Errorf(chat.CodeUnavailable, op, "This system has no file dialog.").WithHint("type the path instead")
}

// PickFiles opens the system's dialog for opening files; none: the user closed it.
func (s *Transfer) PickFiles() ([]string, error) {
	if s.c.Shell.PickFiles == nil {
		return nil, noShell("transfer.pick_files")
	}
	return s.c.Shell.PickFiles()
}

// PickTarget opens the system's dialog for saving a file; empty: the user closed it.
func (s *Transfer) PickTarget(suggested string) (string, error) {
	if s.c.Shell.PickTarget == nil {
		return "", noShell("transfer.pick_target")
	}
	return s.c.Shell.PickTarget(suggested)
}

// maxSaved limits a text that is saved as a file.
const maxSaved = 16 << 20

// SaveText saves a text, such as the code of an answer, to a file that the user chooses. It returns the path; empty:
// the user closed the dialog, and nothing was written.
func (s *Transfer) SaveText(name, text string) (string, error) {
	const op = "transfer.save_text"
	if s.c.Shell.PickTarget == nil {
		return "", chat.Errorf(chat.CodeUnavailable, op, "This system offers no dialog to save a file.").WithHint("copy the text instead")
	}
	if len(text) > maxSaved {
		return "", chat.Errorf(chat.CodeInvalid, op, "The text is longer than %d MB, the most that can be saved at once; nothing was written.", maxSaved>>20).WithHint("export the turn instead")
	}
	ext := filepath.Ext(name)
	path, err := s.c.Shell.PickTarget(exporting.FileName(strings.TrimSuffix(name, ext)) + ext)
	if err != nil || path == "" {
		return "", err
	}
	return path, exporting.SaveText(s.c.ctx(), s.c.DataDir, path, text)
}

// Reveal shows a file in the system's file manager.
func (s *Transfer) Reveal(path string) error {
	if s.c.Shell.Reveal == nil {
		return chat.Errorf(chat.CodeUnavailable, "transfer.reveal", "The file manager could not be opened.").WithHint("the file is at %s", path)
	}
	return s.c.Shell.Reveal(path)
}

// importInput is the input of an import task, needed to resume it.
type importInput struct {
	Path   string `json:"path"`
	Format string `json:"format,omitempty"`

	passphrase string // of a sealed file; never stored
}

// ImportFiles starts importing files and folders, with one task for each. An empty format is detected. The passphrase
// opens those that are sealed; it is not stored, so their imports cannot be resumed, only started again.
//
// Errors: CodeInvalid, CodeBusy, CodeSealed (the passphrase does not open one of them); nothing is imported then.
func (s *Transfer) ImportFiles(paths []string, format, passphrase string) ([]TaskView, error) {
	const op = "transfer.import"
	if err := s.c.ready(); err != nil {
		return nil, err
	}
	formats := append(transfer.Formats(), transfer.FormatAuto, transfer.FormatBundle)
	if !slices.Contains(formats, transfer.Format(format)) {
		return nil, chat.Errorf(chat.CodeInvalid, op, "There is no format %q; nothing was imported.", format)
	}
	running, waiting := s.c.Tasks.Open()
	if free := tasks.MaxOpen - running - waiting; len(paths) > free {
		return nil, chat.Errorf(chat.CodeBusy, op, "Only %d of %d files can be imported now; nothing was imported.", free, len(paths)).
			WithHint("put them into a folder and import that, or choose fewer files")
	}
	inputs := make([]importInput, 0, len(paths))
	for _, p := range paths {
		full, err := filetype.Absolute(p)
		if err != nil {
			return nil, err
		}
		in := importInput{Path: full, Format: format}
		found := filetype.Detect(full)
		in.passphrase = strings.TrimSpace(passphrase) // as it was given
		isFolder := found.Kind == filetype.Folder
		if !found.Sealed || isFolder && in.passphrase == "" { // its sealed files are reported one by one
			in.passphrase = ""
		} else {
			files := []string{full}
			if isFolder {
				files = filetype.SealedIn(full, maxTried)
			}
			// The files of a folder are reported one by one; it is only refused if the passphrase opens none.
			if err := opensOne(files, in.passphrase); err != nil && (!isFolder || chat.CodeOf(err) == chat.CodeSealed && len(files) < maxTried) {
				return nil, err
			}
		}
		inputs = append(inputs, in)
	}
	out := make([]TaskView, 0, len(paths))
	for _, in := range inputs {
		spec := tasks.Spec{Kind: tasks.Import, Title: chat.Say("Import %s", filepath.Base(in.Path))}
		if in.passphrase == "" {
			raw, err := json.Marshal(in)
			if err != nil {
				return out, err
			}
			spec.Input = raw
		}
		t, err := s.c.Tasks.Start(spec, s.importing(in))
		if err != nil {
			return out, err
		}
		out = append(out, taskView(t))
	}
	return out, nil
}

// maxTried limits how many files of a folder a passphrase is tried on before the import, for it takes a second for each. With
// so many, the import itself finds out.
const maxTried = 4

// opensOne returns nil if a passphrase opens one of the files, which may have several: the import reports the others, and
// they are imported with the same folder and their own passphrase. Otherwise it returns the first error.
func opensOne(files []string, passphrase string) (first error) {
	for _, file := range files {
		err := importing.Opens(file, passphrase)
		if err == nil || chat.CodeOf(err) != chat.CodeSealed {
			return err
		}
		if first == nil {
			first = err
		}
	}
	return first
}

// importing returns the work of an import.
func (s *Transfer) importing(in importInput) tasks.Run {
	return func(ctx context.Context, p *tasks.Progress) (tasks.Result, error) {
		report, err := s.imports(ctx, in.Path, importing.Options{
			Format:     transfer.Format(in.Format),
			Passphrase: in.passphrase,
			Progress: func(done importing.Progress) {
				p.Count(done.Done, done.Total, "bytes")
				p.Detail(atConversation(done))
			},
		})
		raw, encoding := json.Marshal(importReport(report).bounded())
		if encoding != nil {
			return tasks.Result{}, encoding
		}
		if err == nil && report.Cancelled {
			err = context.Cause(ctx)
		}
		s.c.Hub.Change(chat.Change{Kind: chat.ChangeSessions})
		return tasks.Result{Report: raw}, err
	}
}

// Plan returns what an export would write.
func (s *Transfer) Plan(request ExportRequest) (ExportPlan, error) {
	if err := s.c.ready(); err != nil {
		return ExportPlan{}, err
	}
	return s.exports.Plan(s.c.ctx(), request)
}

// maxPrinted limits the printed page, in bytes, because the web view lays it out at once.
const maxPrinted = 24 << 20

// Printable returns the page to print: an export as HTML, which runs no scripts and loads nothing.
func (s *Transfer) Printable(request ExportRequest) (string, error) {
	if err := s.c.ready(); err != nil {
		return "", err
	}
	request.Format, request.Path = exporting.FormatHTML, ""
	out := bounded{limit: maxPrinted}
	if _, err := s.exports.WriteTo(s.c.ctx(), request, &out, nil); err != nil && !out.tooLong {
		return "", err
	}
	if out.tooLong {
		return "", chat.Errorf(chat.CodeInvalid, "transfer.print", "This session is larger than %d MB, the most that can be printed at once.", maxPrinted>>20).
			WithHint("print single turns, or export it as HTML and print that from a browser")
	}
	return out.text.String(), nil
}

// bounded collects a text up to a maximum length.
type bounded struct {
	limit   int
	text    strings.Builder
	tooLong bool
}

// Write implements io.Writer.
func (b *bounded) Write(p []byte) (int, error) {
	if b.tooLong = b.tooLong || b.text.Len()+len(p) > b.limit; b.tooLong {
		return 0, io.ErrShortWrite
	}
	return b.text.Write(p)
}

// Export starts writing a file. An existing one is replaced only on request. The passphrase is that of a sealed bundle.
func (s *Transfer) Export(request ExportRequest, passphrase string) (TaskView, error) {
	if err := s.c.ready(); err != nil {
		return TaskView{}, err
	}
	if request.Sealed {
		var err error
		if request.Passphrase, err = given(passphrase); err != nil {
			return TaskView{}, err
		}
	}
	if request.Path != "" {
		full, err := filetype.Absolute(request.Path)
		if err != nil {
			return TaskView{}, err
		}
		request.Path = full
	}
	ctx := s.c.ctx()
	plan, err := s.exports.Plan(ctx, request)
	if err != nil {
		return TaskView{}, err
	}
	if plan.Exists && !request.Replace {
		return TaskView{}, chat.Errorf(chat.CodeConflict, "transfer.export", "%s already exists; nothing was written.", plan.Path).
			WithHint("choose another name, or replace it")
	}
	session, err := s.sessionOf(ctx, request)
	if err != nil {
		return TaskView{}, err
	}
	request.Path = plan.Path
	spec := tasks.Spec{Kind: tasks.Export, Title: chat.Say("Export %s", filepath.Base(plan.Path)), Session: session}
	return viewOf(s.c.Tasks.Start(spec, func(ctx context.Context, p *tasks.Progress) (tasks.Result, error) {
		res, err := s.exports.Write(ctx, request, func(done, total int64) { p.Count(done, total, "turns") })
		return tasks.Result{Path: res.Path}, err
	}))
}

// sessionOf returns the session that an export is about; empty: all.
func (s *Transfer) sessionOf(ctx context.Context, r ExportRequest) (chat.SessionID, error) {
	if r.Session != "" || r.Branch == "" {
		return r.Session, nil
	}
	b, err := s.c.Sessions.Branch(ctx, r.Branch)
	return b.SessionID, err
}

// PastedFiles inspects the files in the clipboard, such as those copied in a file manager, for pages that cannot read
// it. The result is empty if there are none.
func (s *Transfer) PastedFiles() ([]DroppedFile, error) {
	if s.c.Shell.Copied == nil {
		return nil, nil
	}
	paths, err := s.c.Shell.Copied()
	if err != nil {
		return nil, err
	}
	return s.Inspect(paths)
}

// PastedPicture returns the picture in the clipboard, for pages that cannot read it. The result has no data if there is
// none, or if the offered data is not a picture.
func (s *Transfer) PastedPicture() (ImageUpload, error) {
	const op = "transfer.paste"
	if s.c.Shell.Picture == nil {
		return ImageUpload{}, nil
	}
	data, err := s.c.Shell.Picture()
	if err != nil || len(data) == 0 {
		return ImageUpload{}, err
	}
	if len(data) > filetype.MaxImageBytes {
		return ImageUpload{}, chat.Errorf(chat.CodeInvalid, op, "The picture in the clipboard is larger than %d MB, the most that can be sent. It was not attached.", filetype.MaxImageBytes>>20).WithHint("copy a smaller part of it, or make it smaller")
	}
	media := chat.ImageType(data)
	if media == "" { // some programs answer a request for a picture with text
		return ImageUpload{}, nil
	}
	return ImageUpload{MediaType: media, Data: base64.StdEncoding.EncodeToString(data), Name: "Pasted picture"}, nil
}

// Attach reads a file by its path for the draft of a branch: a document is stored in the session, an image becomes
// part of the draft.
func (s *Transfer) Attach(branchID, path string) (AttachResult, error) {
	const op = "transfer.attach"
	if err := s.c.ready(); err != nil {
		return AttachResult{}, err
	}
	f := filetype.Detect(path)
	if f.Reason.IsZero() && f.Kind != filetype.Document && f.Kind != filetype.Image && f.Kind != filetype.Transcript {
		f.Reason = notAttached[f.Kind]
	}
	if !f.Reason.IsZero() {
		return AttachResult{}, chat.Errorf(chat.CodeInvalid, op, "%s was not attached. %s", f.Name, f.Reason)
	}
	data, err := readComplete(f)
	if err != nil {
		return AttachResult{}, err
	}
	if f.Kind == filetype.Image {
		return AttachResult{Image: &ImageUpload{MediaType: chat.ImageType(data), Data: base64.StdEncoding.EncodeToString(data), Name: f.Name}}, nil
	}
	file, err := s.c.keepDocument(chat.BranchID(branchID), f.Name, data)
	if err != nil {
		return AttachResult{}, err
	}
	v := fileView(file)
	return AttachResult{File: &v}, nil
}

// notAttached says why a known kind of file cannot be attached.
var notAttached = map[filetype.Kind]chat.Phrase{
	filetype.Bundle: chat.Say("It is a session; import it instead."),
	filetype.Backup: chat.Say("It is a backup; restore it in the settings."),
	filetype.Folder: chat.Say("It is a folder; attach the files in it."),
}

// readComplete reads a file to attach. It checks the size again, because the file may have grown since it was inspected.
func readComplete(f filetype.File) ([]byte, error) {
	const op = "transfer.attach"
	if err := documents.CheckSize(f.Name, f.Size); err != nil {
		return nil, err
	}
	file, err := plainfile.Open(f.Path)
	if err != nil {
		return nil, chat.WrapError(chat.CodeInvalid, op, err, "%s cannot be opened; nothing was attached.", f.Name)
	}
	defer func() { _ = file.Close() }()
	limit := int64(documents.MaxBytes)
	if f.Kind == filetype.Image {
		limit = filetype.MaxImageBytes
	}
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	switch {
	case err != nil:
		return nil, chat.WrapError(chat.CodeInvalid, op, err, "%s could not be read completely; nothing was attached.", f.Name)
	case int64(len(data)) > limit:
		return nil, chat.Errorf(chat.CodeInvalid, op, "%s is larger than %d MB, the most that can be attached; nothing was attached.", f.Name, limit>>20)
	}
	return data, nil
}
