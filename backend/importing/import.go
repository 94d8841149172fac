package importing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/display"
	"contextinfinity/backend/transfer"
)

const op = "import.run"

// Import imports a file, or all exports below a folder.
func (s *Service) Import(ctx context.Context, path string, o Options) (Report, error) {
	r := &run{s: s, ctx: ctx, opts: o, report: Report{
		File: path, Skipped: []transfer.SkippedRow{}, Notices: []Notice{}, Made: []chat.SessionID{}, Instructions: []Instructions{},
	}}
	select {
	case s.one <- struct{}{}:
		defer func() { <-s.one }()
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
	met      int    // conversations of the current file
	title    string
	reported time.Time
	fault    error // an error of the store, which ends the import
	wait     pending
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

// ended converts the final error to a message.
func (r *run) ended(err error) (Report, error) {
	in := display.Count(r.report.Sessions+r.report.Grown, "session was imported and stays", "sessions were imported and stay")
	switch {
	case err == nil:
	case r.ctx.Err() != nil:
		r.report.Cancelled = true
		err = chat.WrapError(chat.CodeCancelled, op, err, "The import was stopped; "+in+".").WithHint("import the same file again to continue")
	case chat.CodeOf(err) == chat.CodeNoSpace:
		err = chat.WrapError(chat.CodeNoSpace, op, err, "The disk is full; "+in+".").WithHint("free some space, and import the same file again to continue")
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
	name := filepath.Base(path)
	format := r.opts.Format
	if format == transfer.FormatAuto {
		head, err := transfer.Head(f, size)
		if err != nil {
			return unreadable(path, err)
		}
		if format, err = transfer.Detect(name, head); err != nil {
			return err
		}
		if format == transfer.FormatZip && transfer.IsBundle(f, size) {
			format = transfer.FormatBundle
		}
	}
	r.report.Format, r.met, r.title = format, 0, name
	in := transfer.Input{Name: path, Size: size, Data: f}
	switch format {
	case transfer.FormatBundle:
		return r.bundle(in)
	case transfer.FormatZip:
		packed, beside, err := transfer.PackedBundles(name, f, size)
		if err == nil && len(packed) > 0 {
			return r.packed(packed, beside)
		}
	}
	return r.export(in)
}

// packed imports the bundles of an archive, from an export of all sessions. A refused one is reported and does not
// affect the others.
func (r *run) packed(list []transfer.PackedBundle, beside int) error {
	before := r.before
	defer func() { r.before = before }()
	for i, b := range list {
		r.title = filepath.Base(b.Name)
		err := r.bundle(transfer.Input{Name: b.Name, Size: b.Data.Size(), Data: b.Data})
		switch {
		case err == nil:
		case r.ctx.Err() != nil || !itsOwn(err):
			return err
		default:
			r.skip(transfer.SkippedRow{File: b.Name, Index: i, Reason: chat.AsError(err).Message})
		}
		r.before += b.Data.Size()
	}
	if beside > 0 {
		r.notice(transfer.Notice{Text: "Files beside the bundles in the archive were left out.", Count: beside})
	}
	return nil
}

// open opens a regular file, or the target of a symbolic link.
func open(path string) (*os.File, int64, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		return nil, 0, chat.Errorf(chat.CodeInvalid, op, "%s is not a regular file; nothing was imported.", filepath.Base(path))
	}
	if err != nil {
		return nil, 0, unreadable(path, err)
	}
	f, err := os.Open(path) // #nosec G304 -- the person who imports names it
	if err != nil {
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
	return chat.WrapError(code, op, err, fmt.Sprintf("%s cannot be read: %v. Nothing was imported from it.", filepath.Base(path), err))
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
		Format: r.opts.Format, Skip: r.known,
		Progress: func(p transfer.Progress) { r.reportProgress(r.before+p.Read, r.before+p.Total, false) },
	}, r.conversation)
	if r.fault == nil && r.ctx.Err() == nil { // conversations read before an error are written too
		if failed := r.flush(); failed != nil {
			err = failed
		}
	}
	r.wait = pending{}
	r.report.Format = rep.Format
	r.report.Already += rep.Already
	r.report.Bytes += rep.Bytes
	if rep.Torn {
		r.report.Torn = true
		r.report.TornFiles = r.named(r.report.TornFiles)
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

// known skips conversations that exist unchanged. An error will occur again when writing.
func (r *run) known(source transfer.Source, _, key string) bool {
	in, err := r.s.d.Store.Imported(r.ctx, source, key)
	if in && err == nil {
		r.met++
	}
	return in && err == nil
}

// Conversations are written together as long as they are few and small: a transaction for each would cost more than
// its content.
const (
	togetherTurns = 40
	togetherBytes = 1 << 20
)

// pending are conversations read but not written yet.
type pending struct {
	list         []transfer.Conversation
	index        []int // in the file
	turns, bytes int
}

// conversation writes one, with those before it; only an error that would affect the others too ends the import.
func (r *run) conversation(c transfer.Conversation) error {
	index := r.met
	r.met, r.title = r.met+1, c.Title
	size := 0
	for i := range c.Turns {
		size += c.Turns[i].Size()
	}
	if r.wait.turns+len(c.Turns) > togetherTurns || r.wait.bytes+size > togetherBytes {
		if err := r.flush(); err != nil {
			return err
		}
	}
	w := &r.wait
	w.list, w.index = append(w.list, c), append(w.index, index)
	if w.turns, w.bytes = w.turns+len(c.Turns), w.bytes+size; w.turns < togetherTurns && w.bytes < togetherBytes {
		return nil
	}
	return r.flush()
}

// flush writes the pending conversations.
func (r *run) flush() error {
	w := r.wait
	r.wait = pending{}
	if len(w.list) == 0 {
		return nil
	}
	rules := make([]chat.ImportRules, len(w.list))
	for i := range w.list {
		rules[i] = r.rules(w.list[i])
	}
	if len(w.list) > 1 {
		if out, err := r.s.d.Store.ImportTogether(r.ctx, w.list, rules); err == nil {
			for i, c := range w.list {
				r.count(out[i])
				r.instructed(c, out[i])
			}
			return nil
		}
	}
	for i, c := range w.list {
		im, err := r.s.d.Store.ImportConversation(r.ctx, c, rules[i])
		if r.fault = r.written(c, w.index[i], im, err); r.fault != nil {
			return r.fault
		}
	}
	return nil
}

// written counts the result for a conversation. It fails if the import cannot continue.
func (r *run) written(c transfer.Conversation, index int, im chat.Imported, err error) error {
	if err == nil {
		r.count(im)
		r.instructed(c, im)
		return nil
	}
	r.report.Turns, r.report.Branches = r.report.Turns+im.Turns, r.report.Branches+im.Branches
	if !itsOwn(err) {
		return err
	}
	if chat.CodeOf(err) == chat.CodeNotFound { // includes its title
		r.title = ""
		r.skip(transfer.SkippedRow{Index: index, Reason: "It was deleted here while it was imported."})
		return nil
	}
	r.skip(transfer.SkippedRow{Index: index, ID: c.ID, Title: c.Title, Reason: "It could not be written. " + chat.AsError(err).Message})
	return nil
}

// wordsShown is the number of characters of instructions that a report shows.
const wordsShown = 120

// instructed reports the instructions that come with a conversation.
func (r *run) instructed(c transfer.Conversation, im chat.Imported) {
	words := strings.Join(strings.Fields(c.SystemPrompt), " ")
	if words == "" || im.Outcome != chat.ImportMade {
		return
	}
	if runes := []rune(words); len(runes) > wordsShown {
		words = string(runes[:wordsShown]) + "…"
	}
	r.report.Instructed++
	if len(r.report.Instructions) < transfer.MaxReported {
		r.report.Instructions = append(r.report.Instructions, Instructions{Session: im.Session, Title: c.Title, Begins: words})
	}
}

// itsOwn reports that an error concerns one conversation only.
func itsOwn(err error) bool {
	switch chat.CodeOf(err) {
	case chat.CodeInvalid, chat.CodeNotFound, chat.CodeConflict, chat.CodeBusy, chat.CodeIncomplete, chat.CodeCorrupt:
		return true
	}
	return false
}

func (r *run) count(im chat.Imported) {
	switch im.Outcome {
	case chat.ImportGrown:
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
	if r.report.First == "" || len(r.report.Made) == 0 && im.Outcome != chat.ImportAlready {
		r.report.First = im.Session
	}
	if im.Outcome != chat.ImportAlready && len(r.report.Made) < transfer.MaxReported {
		r.report.Made = append(r.report.Made, im.Session)
	}
}

const overCaps = "The instructions or pinned facts of a session are too long for its model. They are kept; " +
	"a message can be sent there once they are shortened or a model with a larger window is chosen."

func (r *run) skip(row transfer.SkippedRow) {
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

func (r *run) notice(n transfer.Notice) {
	for i := range r.report.Notices {
		if r.report.Notices[i].Text == n.Text {
			r.report.Notices[i].Count += n.Count
			r.report.Notices[i].Files = r.named(r.report.Notices[i].Files)
			return
		}
	}
	r.report.Notices = append(r.report.Notices, Notice{n, r.named(nil)})
}

// named adds the present file of a folder to the files of a notice.
func (r *run) named(files []string) []string {
	if r.name == "" || len(files) == MaxNamed || slices.Contains(files, r.name) {
		return files
	}
	return append(files, r.name)
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
