package importing

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/display"
	"contextinfinity/backend/internal/plainfile"
	"contextinfinity/backend/internal/seal"
	"contextinfinity/backend/transfer"
)

const op = "import.run"

// Import imports a file, or all exports below a folder.
func (s *Service) Import(ctx context.Context, path string, o Options) (Report, error) {
	r := &run{s: s, ctx: ctx, opts: o, forks: transfer.NewForks(), report: Report{
		File: path, Skipped: []transfer.SkippedRow{}, Notices: []transfer.Notice{}, SessionIDs: []chat.SessionID{}, Instructions: []Instructions{},
	}}
	select {
	case s.running <- struct{}{}:
		defer func() { <-s.running }()
	case <-ctx.Done():
		return r.ended(ctx.Err())
	}
	return r.ended(r.start(path))
}

// run is one import.
type run struct {
	s      *Service
	ctx    context.Context
	opts   Options
	report Report

	name     string // of the current file, in a folder
	before   int64  // size of the files before it
	total    int64  // of all files of a folder; 0: use the file's own
	next     int    // index of the next conversation of the current file
	title    string
	reported time.Time
	fault    error // an error of the store, which ends the import
	forks    *transfer.Forks
	batch    batch
}

func (r *run) start(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return unreadable(path, err)
	case info.IsDir():
		return r.folder(path)
	}
	r.report.Files = 1
	return r.file(path)
}

// ended converts the final error to a message and reports the end.
func (r *run) ended(err error) (Report, error) {
	imported := display.Count(r.report.Sessions+r.report.Grown, "session was imported and is kept", "sessions were imported and are kept")
	switch {
	case err == nil:
	case r.ctx.Err() != nil:
		r.report.Cancelled = true
		err = chat.WrapError(chat.CodeCancelled, op, err, "The import was stopped; %s.", imported).WithHint("import the same file again to continue")
	case chat.CodeOf(err) == chat.CodeNoSpace:
		err = chat.WrapError(chat.CodeNoSpace, op, err, "The disk is full; %s.", imported).WithHint("free some space, and import the same file again to continue")
	}
	r.reportProgress(r.before, r.before, true)
	return r.report, err
}

// file imports one file. Errors of the file are reported; errors of the store end the import.
func (r *run) file(path string) error {
	f, size, err := open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	in, err := unseal(transfer.Input{Name: path, Size: size, Data: f}, r.opts.Passphrase)
	if err != nil {
		return err
	}
	name := filepath.Base(in.Name)
	format := r.opts.Format
	if format == transfer.FormatAuto {
		if format, err = transfer.Detect(name, in.Data, in.Size); err != nil {
			return err
		}
		if format == transfer.FormatZip && transfer.IsBundle(in.Data, in.Size) {
			format = transfer.FormatBundle
		}
	}
	r.report.Format, r.next, r.title = format, 0, name
	if root, err := os.OpenRoot(filepath.Dir(path)); err == nil { // without it, only attached files are missing
		defer func() { _ = root.Close() }()
		in.Beside = root.FS()
	}
	switch format {
	case transfer.FormatBundle:
		return r.bundle(in)
	case transfer.FormatZip:
		packed, others, err := transfer.PackedBundles(name, in.Data, in.Size)
		if err == nil && len(packed) > 0 {
			return r.packed(packed, others)
		}
	}
	return r.export(in)
}

// Opens returns an error if a file is sealed and the passphrase does not open it. It takes a second for each.
func Opens(path, passphrase string) error {
	f, size, err := open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = unseal(transfer.Input{Name: path, Size: size, Data: f}, passphrase)
	return err
}

// unseal returns a file that is sealed with a passphrase as its content, which is decrypted while it is read: nothing
// is written in between. Any other file is returned as it is.
func unseal(in transfer.Input, passphrase string) (transfer.Input, error) {
	head := make([]byte, 64)
	n, _ := in.Data.ReadAt(head, 0)
	if !seal.IsSealed(head[:n]) {
		return in, nil
	}
	name := filepath.Base(in.Name)
	if passphrase == "" {
		return in, chat.Errorf(chat.CodeSealed, op, "%s is sealed with a passphrase; nothing was imported from it.", name).
			WithHint("contextinfinity import FILE asks for it, or reads it with --passphrase-file")
	}
	plain, size, err := seal.OpenWithPassphrase(in.Data, in.Size, passphrase)
	switch {
	case errors.Is(err, seal.ErrPassphrase):
		return in, chat.WrapError(chat.CodeSealed, op, err, "The passphrase does not open %s; nothing was imported from it.", name).
			WithHint("check the passphrase, and the layout of the keyboard")
	case errors.Is(err, seal.ErrRecipients):
		return in, chat.WrapError(chat.CodeInvalid, op, err, "%s is sealed for keys of age, not with a passphrase; nothing was imported from it.", name).
			WithHint("open it with the program age, and import what that writes")
	case err != nil:
		return in, chat.WrapError(chat.CodeCorrupt, op, err, "%s is sealed, and damaged or cut off; nothing was imported from it.", name).
			WithHint("copy or export it again")
	}
	return transfer.Input{Name: strings.TrimSuffix(in.Name, seal.Extension), Size: size, Data: plain}, nil
}

// packed imports the bundles of an archive, from an export of all sessions. A refused one is reported and does not
// affect the others.
func (r *run) packed(list []transfer.PackedBundle, others int) error {
	before := r.before
	defer func() { r.before = before }()
	for i, b := range list {
		r.title = filepath.Base(b.Name)
		err := r.bundle(transfer.Input{Name: b.Name, Size: b.Data.Size(), Data: b.Data})
		switch {
		case err == nil:
		case r.ctx.Err() != nil || !concernsOne(err):
			return err
		default:
			r.skip(transfer.SkippedRow{File: b.Name, Index: i, Reason: chat.AsError(err).Said().Packed()})
		}
		r.before += b.Data.Size()
	}
	if others > 0 {
		r.notice(transfer.Notice{Text: "Files beside the bundles in the archive were left out.", Count: others})
	}
	return nil
}

// open opens a regular file, or the target of a symbolic link.
func open(path string) (*os.File, int64, error) {
	f, err := plainfile.Open(path)
	if err != nil {
		return nil, 0, unreadable(path, err)
	}
	info, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return nil, 0, unreadable(path, err)
	}
	return f, info.Size(), nil
}

func unreadable(path string, err error) error {
	code := chat.CodeInvalid
	if errors.Is(err, os.ErrNotExist) {
		code = chat.CodeNotFound
	}
	if p, ok := errors.AsType[*os.PathError](err); ok {
		err = p.Err
	}
	return chat.WrapError(code, op, err, "%s cannot be read: %v. Nothing was imported from it.", filepath.Base(path), err)
}

func (r *run) bundle(in transfer.Input) error {
	im, notices, err := r.s.d.Store.ImportBundle(r.ctx, in.Data, in.Size, filepath.Base(in.Name))
	if err != nil {
		return err
	}
	r.report.Bytes += in.Size
	for _, n := range notices {
		r.notice(n)
	}
	r.count(im)
	if im.Outcome != chat.ImportAlready && r.s.d.Caps != nil && chat.CodeOf(r.s.d.Caps(r.ctx, im.Session)) == chat.CodeOverBudget {
		r.notice(transfer.Notice{Text: overCaps, Count: 1})
	}
	r.reportProgress(r.before+in.Size, r.before+in.Size, false)
	return nil
}

func (r *run) export(in transfer.Input) error {
	rep, err := transfer.Read(r.ctx, in, transfer.Options{
		Format: r.opts.Format, Skip: r.known, Forks: r.forks, Document: r.s.d.Document,
		Progress: func(p transfer.Progress) { r.reportProgress(r.before+p.Read, r.before+p.Total, false) },
	}, r.conversation)
	if r.fault == nil && r.ctx.Err() == nil { // conversations read before an error are written too
		if failed := r.flush(); failed != nil {
			err = failed
		}
	}
	r.batch = batch{}
	r.report.Format = rep.Format
	r.report.Already += rep.Already
	r.report.Bytes += rep.Bytes
	if rep.Truncated {
		r.report.Truncated = true
		r.report.TruncatedFiles = addName(r.report.TruncatedFiles, r.name)
	}
	r.report.SkippedCount += rep.SkippedCount - len(rep.Skipped)
	for _, row := range rep.Skipped {
		r.skip(row)
	}
	for _, n := range rep.Notices {
		r.notice(n)
	}
	return cmp.Or(r.fault, err)
}

// known reports whether a conversation already exists unchanged. An error is ignored, because it occurs again when the
// conversation is written.
func (r *run) known(source transfer.Source, _, key string) bool {
	exists, err := r.s.d.Store.Imported(r.ctx, source, key)
	if exists && err == nil {
		r.next++
	}
	return exists && err == nil
}

// Conversations are written together as long as they are few and small: a transaction for each would cost more than
// its content.
const (
	batchTurns = 40
	batchBytes = 1 << 20
)

// batch contains conversations that were read but not written yet.
type batch struct {
	list         []transfer.Conversation
	index        []int // their indexes in the file
	turns, bytes int
}

// conversation adds a conversation to the batch, and writes the batch when it is full. Only an error that would affect
// other conversations too ends the import.
func (r *run) conversation(c transfer.Conversation) error {
	index := r.next
	r.next, r.title = r.next+1, c.Title
	size := 0
	for i := range c.Turns {
		size += c.Turns[i].Size()
	}
	if r.batch.turns+len(c.Turns) > batchTurns || r.batch.bytes+size > batchBytes {
		if err := r.flush(); err != nil {
			return err
		}
	}
	b := &r.batch
	b.list, b.index = append(b.list, c), append(b.index, index)
	if b.turns, b.bytes = b.turns+len(c.Turns), b.bytes+size; b.turns < batchTurns && b.bytes < batchBytes {
		return nil
	}
	return r.flush()
}

// flush writes the pending conversations.
func (r *run) flush() error {
	b := r.batch
	r.batch = batch{}
	if len(b.list) == 0 {
		return nil
	}
	rules := make([]chat.ImportRules, len(b.list))
	for i := range b.list {
		rules[i] = r.rules(b.list[i])
	}
	if len(b.list) > 1 {
		if out, err := r.s.d.Store.ImportTogether(r.ctx, b.list, rules); err == nil {
			for i, c := range b.list {
				r.count(out[i])
				r.reportInstructions(c, out[i])
			}
			return nil
		}
	}
	for i, c := range b.list {
		im, err := r.s.d.Store.ImportConversation(r.ctx, c, rules[i])
		if r.fault = r.countWritten(c, b.index[i], im, err); r.fault != nil {
			return r.fault
		}
	}
	return nil
}

// countWritten counts the result of writing a conversation. It returns an error if the import cannot continue.
func (r *run) countWritten(c transfer.Conversation, index int, im chat.Imported, err error) error {
	if err == nil {
		r.count(im)
		r.reportInstructions(c, im)
		return nil
	}
	r.report.Turns, r.report.Branches = r.report.Turns+im.Turns, r.report.Branches+im.Branches
	if !concernsOne(err) {
		return err
	}
	if chat.CodeOf(err) == chat.CodeNotFound { // deleted, so its title is not reported
		r.title = ""
		r.skip(transfer.SkippedRow{Index: index, Reason: "It was deleted here during the import."})
		return nil
	}
	r.skip(transfer.SkippedRow{Index: index, ID: c.ID, Title: c.Title, Reason: chat.Say("It could not be written. %s", chat.AsError(err).Said()).Packed()})
	return nil
}

// shownRunes is the number of characters of instructions that a report shows.
const shownRunes = 120

// reportInstructions reports the instructions that came with a conversation.
func (r *run) reportInstructions(c transfer.Conversation, im chat.Imported) {
	text := strings.Join(strings.Fields(c.SystemPrompt), " ")
	if text == "" || im.Outcome != chat.ImportCreated {
		return
	}
	if runes := []rune(text); len(runes) > shownRunes {
		text = string(runes[:shownRunes]) + "…"
	}
	r.report.Instructed++
	if len(r.report.Instructions) < transfer.MaxReported {
		r.report.Instructions = append(r.report.Instructions, Instructions{Session: im.Session, Title: c.Title, Begins: text})
	}
}

// concernsOne reports whether an error concerns only one conversation.
func concernsOne(err error) bool {
	switch chat.CodeOf(err) {
	case chat.CodeInvalid, chat.CodeNotFound, chat.CodeConflict, chat.CodeBusy, chat.CodeIncomplete, chat.CodeCorrupt, chat.CodeSealed:
		return true
	}
	return false
}

func (r *run) count(im chat.Imported) {
	switch im.Outcome {
	case chat.ImportGrown, chat.ImportMerged:
		r.report.Grown++
	case chat.ImportAlready:
		r.report.Already++
	case chat.ImportCopied:
		r.report.Sessions++
		r.report.Copied = true
	default:
		r.report.Sessions++
	}
	r.report.Turns += im.Turns
	r.report.Branches += im.Branches
	if im.Notice != "" {
		r.notice(transfer.Notice{Text: im.Notice, Count: 1})
	}
	if r.report.First == "" || len(r.report.SessionIDs) == 0 && im.Outcome != chat.ImportAlready {
		r.report.First = im.Session
	}
	if im.Outcome != chat.ImportAlready && len(r.report.SessionIDs) < transfer.MaxReported {
		r.report.SessionIDs = append(r.report.SessionIDs, im.Session)
	}
}

const overCaps = "The instructions or pinned facts of a session are too long for its model. They are kept; " +
	"a message can be sent there once they are shortened or a model with a larger window is chosen."

func (r *run) skip(row transfer.SkippedRow) {
	if row.Words.IsZero() {
		row.Reason, row.Words = chat.Unpack(row.Reason).Split()
	}
	if r.name != "" && row.File != "" {
		row.File = r.name + "/" + row.File
	} else if r.name != "" {
		row.File = r.name
	}
	r.report.SkippedCount++
	if len(r.report.Skipped) < transfer.MaxReported {
		r.report.Skipped = append(r.report.Skipped, row)
	}
}

// notice counts a notice. In a folder it names the current file, or the files of the archive that the notice names.
func (r *run) notice(n transfer.Notice) {
	files := n.Files
	if len(files) == 0 && r.name != "" {
		files = []string{""}
	}
	n.Files = nil
	at := slices.IndexFunc(r.report.Notices, func(other transfer.Notice) bool { return other.Text == n.Text })
	if at < 0 {
		at, r.report.Notices = len(r.report.Notices), append(r.report.Notices, n)
	} else {
		r.report.Notices[at].Count += n.Count
	}
	for _, file := range files {
		r.report.Notices[at].Files = addName(r.report.Notices[at].Files, strings.Trim(r.name+"/"+file, "/"))
	}
}

// addName adds a file to those that are named.
func addName(files []string, name string) []string {
	if name == "" || len(files) == transfer.MaxNamed || slices.Contains(files, name) {
		return files
	}
	return append(files, name)
}

// reportEvery is how often new sessions are announced.
const reportEvery = time.Second

func (r *run) reportProgress(done, total int64, last bool) {
	if r.opts.Progress != nil {
		r.opts.Progress(Progress{
			Done: done, Total: max(total, r.total), Sessions: r.report.Sessions + r.report.Grown + r.report.Already, Title: r.title,
		})
	}
	if now := time.Now(); r.s.d.Changed != nil && (last || now.Sub(r.reported) >= reportEvery) {
		r.reported = now
		r.s.d.Changed()
	}
}
