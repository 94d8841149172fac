package transfer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/dates"
	"contextinfinity/backend/internal/display"
)

// Input is a file to read. Some parts are read twice.
type Input struct {
	Name string // as the user knows it
	Size int64  // bytes
	Data io.ReaderAt
	// Beside are the files in its folder, some of which belong to an export: pictures, attached files; nil: none.
	Beside fs.FS
}

// Options control the reading.
type Options struct {
	Format   Format                                   // FormatAuto: detect it
	Skip     func(source Source, id, key string) bool // true: imported already with this content
	Progress func(Progress)                           // called from time to time, and at the end
	Forks    *Forks                                   // of the files that are read together; nil: copies are kept
	// Document extracts the text of an attached PDF or office document; nil: such files are left out.
	Document func(ctx context.Context, name string, data []byte) (text string, err error)
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
	// Words are the reason with its values; zero if it has none.
	Words chat.Phrase `json:"words,omitzero"`
}

// Why returns the reason with its values.
func (r SkippedRow) Why() chat.Phrase { return r.Words.As(r.Reason) }

// run is one call of Read.
type run struct {
	ctx      context.Context
	opts     Options
	emit     func(Conversation) error
	report   Report
	seen     map[[16]byte][16]byte // ids and content hashes
	file     string                // in an archive
	beside   fs.FS
	assets   *assets // of beside; nil: not listed yet
	read     int64
	total    int64
	reported int64 // value of read at the last call of Options.Progress
}

// progressStep is the number of bytes between two calls of Options.Progress.
const progressStep = 1 << 20

// Read reads a file and calls emit with each conversation, in file order. An error of emit ends it and is returned.
// The report is valid even with an error.
func Read(ctx context.Context, in Input, opts Options, emit func(Conversation) error) (Report, error) {
	r := &run{ctx: ctx, opts: opts, emit: emit, seen: map[[16]byte][16]byte{}, total: in.Size, beside: in.Beside}
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
			"The import was stopped after %s; what was imported is kept.", display.Count(r.report.Conversations, "conversation", "conversations"))
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
	in, err := r.uncompressed(in)
	if err != nil {
		return err
	}
	if in, err = r.asUTF8(in); err != nil {
		return err
	}
	found, err := Detect(in.Name, in.Data, in.Size)
	switch {
	case chat.CodeOf(err) == chat.CodeCorrupt:
		return err
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

// reader reads a file of one format. from is the beginning of its text.
type reader func(r *run, in Input, from io.Reader) error

// readers are the readers of the formats.
var readers = map[Format]reader{
	FormatChatGPT:    conversations(chatgpt),
	FormatClaude:     conversations(claude),
	FormatOpenWebUI:  conversations(openWebUI),
	FormatLibreChat:  conversations(libreChat),
	FormatAIStudio:   conversations(aiStudio),
	FormatGrok:       (*run).grokFile,
	FormatChatbox:    (*run).chatboxFile,
	FormatClaudeCode: lines(newClaudeCode),
	FormatCodex:      lines(newCodex),
	FormatGptme:      (*run).gptme,
	FormatDeepSeek:   conversations(deepSeek),
	FormatLMStudio:   conversations(lmStudio),
	FormatOpenCode:   conversations(openCode),
	FormatGeminiCLI:  (*run).geminiCLI,
	FormatTakeout:    (*run).takeout,
	FormatCherry:     (*run).cherryFile,
	FormatMessages:   (*run).messages,
	FormatJSONL:      (*run).plain,
	formatManifest:   (*run).manifest,
}

// streamed are the formats whose files are read once, and without holding them in memory.
var streamed = []Format{
	FormatChatGPT, FormatClaude, FormatOpenWebUI, FormatLibreChat, FormatAIStudio, FormatGrok, FormatChatbox,
	FormatDeepSeek, FormatLMStudio, FormatOpenCode,
}

// conversations reads an array of conversations, or consecutive conversations.
func conversations(parse func(json.RawMessage) *draft) reader {
	return func(r *run, _ Input, from io.Reader) error {
		return r.each(newScanner(from, MaxEntryBytes), entry(one(parse)))
	}
}

// lines reads lines that are one conversation, possibly with nested ones.
func lines(create func(name string) builder) reader {
	return func(r *run, in Input, from io.Reader) error {
		return r.collect(in, newLineReader(from), create(in.Name))
	}
}

// readFile reads a file that is not an archive.
func (r *run) readFile(f Format, in Input) error {
	read := readers[f]
	if read == nil {
		return chat.Errorf(chat.CodeInvalid, "import.read", "There is no format called %q; nothing was imported.", string(f))
	}
	return read(r, in, r.count(io.NewSectionReader(in.Data, 0, in.Size)))
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

// parser converts an entry, which is valid JSON, to conversations. The result must not refer to raw, which is reused.
type parser func(raw json.RawMessage) []*draft

// one is the parser of an entry that is one conversation.
func one(parse func(json.RawMessage) *draft) parser {
	return func(raw json.RawMessage) []*draft { return []*draft{parse(raw)} }
}

// taker processes a valid element: it returns the conversations in it, or says why it cannot be imported.
type taker func(e element) (drafts []*draft, reason string)

// entry takes elements that consist of conversations.
func entry(parse parser) taker {
	return func(e element) ([]*draft, string) {
		drafts := parse(e.raw)
		if len(drafts) > 0 {
			drafts[0].repaired.add(e.fixed)
		}
		return drafts, ""
	}
}

// builder builds conversations of all elements of a file.
type builder interface {
	// add takes an element; reason says why it is invalid.
	add(raw json.RawMessage) (reason string)
	// drafts returns the conversations in the elements.
	drafts() []*draft
}

// collect reads a file whose elements together form conversations.
func (r *run) collect(in Input, s source, b builder) error {
	if in.Size > MaxEntryBytes {
		return tooLarge(in.Name, MaxEntryBytes)
	}
	var fixed repaired
	end := r.each(s, func(e element) ([]*draft, string) {
		fixed.add(e.fixed)
		return nil, b.add(e.raw)
	})
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

// each reads a stream to its end.
func (r *run) each(s source, take taker) error {
	for i := 0; ; i++ {
		e, err := s.next()
		if err != nil {
			if values, ok := s.(*scanner); ok {
				r.reportUnexpected(i, values)
			}
			return r.ended(err, e.offset)
		}
		if err := r.element(i, e, take); err != nil {
			return err
		}
	}
}

// element processes an element, or reports why it is skipped.
func (r *run) element(i int, e element, take taker) error {
	var drafts []*draft
	isZeros := e.reason == "" && len(bytes.Trim(e.raw, "\x00")) == 0 // the end of a file that was not completely written
	if e.check(); e.reason == "" {
		drafts, e.reason = take(e)
	} else if e.torn || isZeros {
		r.torn(e.offset)
		e.reason = "The file ends inside it."
	}
	if e.reason != "" {
		g := inspect(bytes.NewReader(e.raw))
		r.skip(SkippedRow{
			Index: i, Offset: e.offset, Reason: e.reason,
			ID:    g.first("id", "conversation_id", "uuid", "conversationId", "conv", "conversation", "session"),
			Title: g.first("title", "name"),
		})
	}
	for _, d := range drafts {
		if err := r.take(d, i, e.offset); err != nil {
			return err
		}
	}
	return nil
}

// reportUnexpected reports unexpected text between entries, which may contain something that was lost.
func (r *run) reportUnexpected(i int, s *scanner) {
	if s.unexpected > 0 {
		r.skip(SkippedRow{Index: i, Offset: s.unexpectedAt, Reason: chat.Say("%d characters between or after the entries are not valid JSON.", s.unexpected).Packed()})
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
		"The file could not be read after byte %d; the part read before is kept.", offset)
}

func (r *run) torn(offset int64) {
	if !r.report.Truncated {
		r.report.Truncated, r.report.TruncatedAt = true, offset
	}
}

// take builds a draft's conversation and passes it on.
func (r *run) take(d *draft, index int, offset int64) error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	d.forks = r.opts.Forks
	if d.Source == SourceChatGPT || d.Source == SourceGrok {
		d.attach = r.attachFiles
	}
	c, reason := d.build()
	if reason == reasonCopy {
		r.notice(noticeCopy, 1)
		return nil
	}
	if reason == reasonEmpty && d.empty() {
		r.notice(noticeNothing, 1)
		return nil
	}
	if reason != "" {
		r.skip(SkippedRow{Index: index, ID: c.ID, Title: c.Title, Offset: offset, Reason: reason})
		return nil
	}
	if r.isKnown(d) {
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

// isKnown reports whether a conversation was imported already with this content.
func (r *run) isKnown(d *draft) bool {
	if d.known == nil {
		known := r.opts.Skip != nil && r.opts.Skip(d.Source, d.ID, d.Key)
		d.known = &known
	}
	return *d.known
}

// attachFiles shows the files of the export in a conversation that was not imported yet.
func (r *run) attachFiles(d *draft) {
	if r.isKnown(d) {
		return
	}
	d.attachFiles(r.ctx, func() *assets {
		if r.assets == nil {
			r.assets = openAssets(r.beside)
			r.assets.read = r.opts.Document
		}
		return r.assets
	})
}

// skip reports an entry that was not read. Its reason may be a packed phrase.
func (r *run) skip(row SkippedRow) {
	row.File = r.file
	row.Reason, row.Words = chat.Unpack(row.Reason).Split()
	r.report.SkippedCount++
	if len(r.report.Skipped) < MaxReported {
		r.report.Skipped = append(r.report.Skipped, row)
	}
}

func (r *run) notice(text string, n int) { r.report.Notices = addNotice(r.report.Notices, text, n) }

// noticeFile counts a notice about a file of an archive, and names the file.
func (r *run) noticeFile(text, file string) {
	r.notice(text, 1)
	at := slices.IndexFunc(r.report.Notices, func(n Notice) bool { return n.Text == text })
	if n := &r.report.Notices[at]; len(n.Files) < MaxNamed {
		n.Files = append(n.Files, file)
	}
}

func tooLarge(name string, limit int64) error {
	return chat.Errorf(chat.CodeInvalid, "import.read", "%s is larger than %s; nothing was imported from it.", path.Base(name), sizeText(limit)).
		WithHint("split it, and import the parts")
}

func unreadable(name string, err error) error {
	return chat.WrapError(chat.CodeCorrupt, "import.read", err, "%s cannot be read; nothing was imported from it.", path.Base(name))
}

func bundleError(name string) error {
	return chat.Errorf(chat.CodeInvalid, "import.read", "%s is a bundle of this program, not an export of another; nothing was imported.", path.Base(name)).
		WithHint("import it as a bundle")
}

func tooLargeEntry(limit int64) string {
	return chat.Say("It is larger than %s.", sizeText(limit)).Packed()
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
