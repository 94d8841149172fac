package transfer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/dates"
	"contextinfinity/backend/internal/display"
)

// Input is a file to read. Some parts are read twice.
type Input struct {
	Name string // as the user knows it
	Size int64  // bytes
	Data io.ReaderAt
}

// Options control the reading.
type Options struct {
	Format   Format                                   // FormatAuto: detect it
	Skip     func(source Source, id, key string) bool // true: imported already with this content
	Progress func(Progress)                           // called from time to time, and at the end
}

// Progress is the progress of reading, in unpacked bytes.
type Progress struct {
	Read, Total int64
}

// Report describes the content of a file.
type Report struct {
	Format        Format       `json:"format"`
	Conversations int          `json:"conversations"` // emitted
	Turns         int          `json:"turns"`         // emitted
	Already       int          `json:"already"`       // skipped by Options.Skip, or repeated in the file
	SkippedCount  int          `json:"skipped_count"`
	Skipped       []SkippedRow `json:"skipped"` // the first MaxReported of them
	Truncated     bool         `json:"torn"`    // it was truncated; everything before is kept
	TruncatedAt   int64        `json:"torn_at,omitempty"`
	Cancelled     bool         `json:"cancelled,omitempty"`
	Bytes         int64        `json:"bytes"` // read
	Unread        dates.Unread `json:"-"`     // named in Notices
	Notices       []Notice     `json:"notices"`
}

// SkippedRow is an unreadable entry.
type SkippedRow struct {
	File   string `json:"file,omitempty"` // in an archive
	Index  int    `json:"index"`          // of the entry or line, from 0
	ID     string `json:"id,omitempty"`
	Title  string `json:"title,omitempty"`
	Offset int64  `json:"offset"` // of its first byte in the file
	Reason string `json:"reason"`
}

// run is one call of Read.
type run struct {
	ctx      context.Context
	opts     Options
	emit     func(Conversation) error
	report   Report
	seen     map[[16]byte][16]byte // ids and content hashes
	file     string                // in an archive
	read     int64
	total    int64
	reported int64 // value of read at the last call of Options.Progress
}

// progressStep is the number of bytes between two calls of Options.Progress.
const progressStep = 1 << 20

// Read reads a file and calls emit with each conversation, in file order. An error of emit ends it and is returned.
// The report is valid even with an error.
func Read(ctx context.Context, in Input, opts Options, emit func(Conversation) error) (Report, error) {
	r := &run{ctx: ctx, opts: opts, emit: emit, seen: map[[16]byte][16]byte{}, total: in.Size}
	r.report.Skipped, r.report.Notices, r.report.Unread.Examples = []SkippedRow{}, []Notice{}, []string{}
	err := r.start(in)
	r.report.Bytes = r.read
	if u := r.report.Unread; u.Count > 0 {
		r.notice(unreadNotice(u), u.Count)
	}
	if opts.Progress != nil {
		opts.Progress(Progress{Read: r.read, Total: r.total})
	}
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		r.report.Cancelled = true
		err = chat.WrapError(chat.CodeCancelled, "import.read", err,
			fmt.Sprintf("The import was stopped after %s; what was imported is kept.", display.Count(r.report.Conversations, "conversation", "conversations")))
	}
	return r.report, err
}

func (r *run) start(in Input) error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	if in.Size > MaxFileBytes {
		return tooLarge(in.Name, MaxFileBytes)
	}
	in, err := r.asUTF8(in)
	if err != nil {
		return err
	}
	head, err := Head(in.Data, in.Size)
	if err != nil {
		return unreadable(in.Name, err)
	}
	found, err := Detect(in.Name, head)
	switch {
	case r.opts.Format != FormatAuto && found != FormatZip && found != FormatBundle:
		found = r.opts.Format
	case err != nil:
		return err
	}
	r.report.Format = found
	switch found {
	case FormatBundle:
		return bundleError(in.Name)
	case FormatZip:
		return r.archive(in)
	}
	return r.readFile(found, in)
}

// readFile reads a file that is not an archive.
func (r *run) readFile(f Format, in Input) error {
	open := func() io.Reader { return r.count(io.NewSectionReader(in.Data, 0, in.Size)) }
	if parse := streamed[f]; parse != nil {
		return r.elements(open(), parse)
	}
	if read := streamedFiles[f]; read != nil {
		return read(r, open())
	}
	switch f {
	case FormatMessages:
		return r.messages(in, open())
	case FormatJSONL:
		return r.plain(in)
	case FormatCherry:
		return r.cherryFile(in, open())
	case FormatTakeout:
		return r.takeout(in, open())
	case FormatGptme:
		return r.gptme(in, open())
	case FormatClaudeCode:
		return r.lines(in, open(), newClaudeCode(in.Name))
	case FormatCodex:
		return r.lines(in, open(), newCodex())
	}
	return chat.Errorf(chat.CodeInvalid, "import.read", "There is no format called %q; nothing was imported.", string(f))
}

// count makes a reader report its progress.
func (r *run) count(from io.Reader) io.Reader {
	return &counted{ctx: r.ctx, r: from, n: &r.read, onRead: r.progress}
}

func (r *run) progress() {
	if r.opts.Progress != nil && r.read-r.reported >= progressStep {
		r.reported = r.read
		r.opts.Progress(Progress{Read: r.read, Total: r.total})
	}
}

// elements reads an array of conversations, or consecutive conversations.
func (r *run) elements(from io.Reader, parse parser) error {
	return r.scan(newScanner(from, MaxEntryBytes), parse)
}

func (r *run) scan(s *scanner, parse parser) error {
	for i := 0; ; i++ {
		e, err := s.next()
		if err != nil {
			r.reportUnexpected(i, s)
			return r.ended(err, e.offset)
		}
		if err := r.element(i, e, parse); err != nil {
			return err
		}
	}
}

// reportUnexpected reports unexpected text between entries, which may contain something that was lost.
func (r *run) reportUnexpected(i int, s *scanner) {
	if s.unexpected > 0 {
		r.skip(SkippedRow{Index: i, Offset: s.unexpectedAt, Reason: fmt.Sprintf("%d characters between or after the entries are not valid JSON.", s.unexpected)})
	}
}

// ended converts the error at the end of a stream. A truncated stream is not an error: it is recorded in the report.
func (r *run) ended(err error, offset int64) error {
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case errors.Is(err, io.ErrUnexpectedEOF):
		r.torn(offset)
		return nil
	case r.ctx.Err() != nil || r.file != "":
		return err
	}
	return chat.WrapError(chat.CodeCorrupt, "import.read", err,
		fmt.Sprintf("The file could not be read after byte %d; the part read before is kept.", offset))
}

func (r *run) torn(offset int64) {
	if !r.report.Truncated {
		r.report.Truncated, r.report.TruncatedAt = true, offset
	}
}

func (r *run) element(i int, e element, parse parser) error {
	return r.entry(i, e, func(raw json.RawMessage) []*draft { return []*draft{parse(raw)} })
}

// entry processes an entry, which may contain several conversations.
func (r *run) entry(i int, e element, parse func(json.RawMessage) []*draft) error {
	raw, fixed, reason := elementJSON(e)
	if e.torn {
		r.torn(e.offset)
		reason = "The file ends inside it."
	}
	if reason != "" {
		g := inspectHead(e.raw)
		r.skip(SkippedRow{
			Index: i, Offset: e.offset, Reason: reason,
			ID: g.first("id", "conversation_id", "uuid", "conversationId"), Title: g.first("title", "name"),
		})
		return nil
	}
	for k, d := range parse(raw) {
		if k == 0 {
			d.repaired.add(fixed)
		}
		if err := r.take(d, i, e.offset); err != nil {
			return err
		}
	}
	return nil
}

// elementJSON is an element's repaired JSON, or why it is invalid.
func elementJSON(e element) (json.RawMessage, repaired, string) {
	if e.reason != "" {
		return nil, repaired{}, e.reason
	}
	if tooDeep(e.raw) {
		return nil, repaired{}, "Its values are nested too deeply."
	}
	raw, fixed := repair(e.raw)
	if !json.Valid(raw) {
		return nil, fixed, invalidReason(raw)
	}
	return raw, fixed, ""
}

func invalidReason(raw []byte) string {
	var value json.RawMessage
	err := json.Unmarshal(raw, &value)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Sprintf("Not valid JSON after byte %d.", syntax.Offset)
	}
	return "Not valid JSON."
}

// take builds a draft's conversation and passes it on.
func (r *run) take(d *draft, index int, offset int64) error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	c, reason := d.build()
	if reason == reasonEmpty && d.empty() {
		r.notice(noticeNothing, 1)
		return nil
	}
	if reason != "" {
		r.skip(SkippedRow{Index: index, ID: c.ID, Title: c.Title, Offset: offset, Reason: reason})
		return nil
	}
	if r.opts.Skip != nil && r.opts.Skip(c.Source, c.ID, c.Key) {
		r.report.Already++
		return nil
	}
	id, content := [16]byte{}, [16]byte{}
	sum := sha256.Sum256([]byte(string(c.Source) + "\x00" + c.ID))
	copy(id[:], sum[:])
	copy(content[:], c.content[:])
	if before, ok := r.seen[id]; ok {
		if before == content {
			r.report.Already++
			return nil
		}
		r.notice("A conversation occurred twice, with different turns; both were imported under one id.", 1)
	}
	r.seen[id] = content
	if err := r.emit(c); err != nil {
		return err
	}
	r.report.Conversations++
	r.report.Turns += len(c.Turns)
	r.report.Unread.Merge(c.Unread)
	for _, n := range c.Notices {
		r.notice(n.Text, n.Count)
	}
	return nil
}

func (r *run) skip(row SkippedRow) {
	row.File = r.file
	r.report.SkippedCount++
	if len(r.report.Skipped) < MaxReported {
		r.report.Skipped = append(r.report.Skipped, row)
	}
}

func (r *run) notice(text string, n int) { r.report.Notices = addNotice(r.report.Notices, text, n) }

// parser converts an entry, which is valid JSON, to a conversation. The result must not refer to raw, which is
// reused.
type parser func(raw json.RawMessage) *draft

// builder processes a file of lines.
type builder interface {
	// line processes a line; reason says why it is invalid.
	line(raw json.RawMessage) (reason string)
	// drafts returns the conversations in the lines.
	drafts() []*draft
}

// lines reads a file that is one conversation, possibly with nested ones.
func (r *run) lines(in Input, from io.Reader, b builder) error {
	if in.Size > MaxEntryBytes {
		return tooLarge(in.Name, MaxEntryBytes)
	}
	l := newLineReader(from)
	var fixed repaired
	var end error
	for i := 0; ; i++ {
		e, err := l.next()
		if err != nil {
			end = r.ended(err, e.offset)
			break
		}
		raw, f, reason := elementJSON(e)
		if reason == "" {
			fixed.add(f)
			reason = b.line(raw)
		} else if e.torn || len(bytes.Trim(e.raw, "\x00")) == 0 && e.reason == "" {
			r.torn(e.offset)
			reason = "The file ends inside it."
		}
		if reason != "" {
			r.skip(SkippedRow{Index: i, Offset: e.offset, Reason: reason})
		}
	}
	if r.ctx.Err() != nil {
		return end
	}
	for i, d := range b.drafts() {
		if i == 0 {
			d.repaired.add(fixed)
		}
		if err := r.take(d, i, 0); err != nil {
			return err
		}
	}
	return end
}

func tooLarge(name string, limit int64) error {
	return chat.Errorf(chat.CodeInvalid, "import.read", "%s is larger than %s; nothing was imported from it.", path.Base(name), sizeText(limit)).
		WithHint("split it, and import the parts")
}

func unreadable(name string, err error) error {
	return chat.WrapError(chat.CodeCorrupt, "import.read", err, path.Base(name)+" cannot be read; nothing was imported from it.")
}

func bundleError(name string) error {
	return chat.Errorf(chat.CodeInvalid, "import.read", "%s is a bundle of this program, not an export of another; nothing was imported.", path.Base(name)).
		WithHint("import it as a bundle")
}

func sizeText(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%d GiB", n>>30)
	case n >= 1<<20:
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d bytes", n)
}
