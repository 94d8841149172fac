// Package chunking splits a turn, and the documents attached to it, into chunks and index units (SPEC 8; SRD 9).
//
// It is pure: the same turn gives the same chunks. Offsets are byte offsets into the message's rendered text, or the
// document's; a chunk's text is exactly those bytes, and no chunk or unit crosses a message. The chunks of a text are
// consecutive, with only white space between them, and do not overlap. The store assigns
// identifiers and times.
//
// A text is parsed as Markdown, code or plain paragraphs, and cut at the strongest boundaries: headings and thematic
// breaks, code fences and the functions in them, lists, tables and paragraphs, then sentences, then words. Small
// neighbours are merged. A text that fits into one unit is one chunk with one unit.
//
// If two chunks of a turn have the same type and bytes, only the first is kept: the store identifies a chunk by turn,
// type, hash and version.
//
// Answers of the recall provider are quotations from memory and never become memory again (SPEC 9). Tool output is
// cut separately; it follows the answer in the text to which offsets refer, and its chunks are of type tool_result.
package chunking

import (
	"path"
	"strings"
	"unicode"

	"contextinfinity/backend/chat"
)

// Version is stored with each chunk; turns with chunks of an older version are indexed again, in the background. It also
// increases when the form in which words are indexed changes (package lexical).
const Version = 4

// recallProvider is the embedded provider that answers with quotations.
const recallProvider = "recall"

// Chunk splits the messages of a turn, and the documents that are indexed with it. The result is empty if there is
// nothing to index.
func Chunk(turn chat.Turn, opt Options, files ...chat.FileText) []chat.Chunk {
	opt = opt.filled()
	var all []chat.Chunk
	for _, s := range sources(turn) {
		if s.text == chat.DeletedMark {
			continue
		}
		all = append(all, s.chunks(opt)...)
	}
	all = append(all, toolChunks(turn, opt)...)
	for _, f := range files {
		s := source{
			turn: turn, role: chat.RoleUser, speaker: beginning(path.Base(f.File.Name), speakerRunes), text: f.Text,
			form: formOf(f.File), file: f.File.ID,
		}
		all = append(all, s.chunks(opt)...)
	}
	return numbered(all)
}

// sources returns the messages of a turn that become memory.
func sources(turn chat.Turn) []source {
	if turn.Provider == chat.ProviderFiles { // its document is its only content
		return nil
	}
	user := source{turn: turn, role: chat.RoleUser, speaker: speakerOf(turn.User), text: turn.User.RenderedText()}
	if turn.Assistant == nil || turn.Provider == recallProvider {
		return []source{user}
	}
	reply := source{
		turn: turn, role: turn.Assistant.Role, speaker: speakerOf(*turn.Assistant), text: turn.Assistant.RenderedText(),
		context: headOf(user.text, questionTokens), everywhere: true,
	}
	user.context = headOf(reply.text, answerTokens)
	return []source{user, reply}
}

// toolChunks splits a turn's tool output into chunks.
func toolChunks(turn chat.Turn, opt Options) []chat.Chunk {
	if turn.Assistant == nil || turn.Provider == recallProvider || turn.Provider == chat.ProviderFiles {
		return nil
	}
	s := source{turn: turn, role: turn.Assistant.Role, speaker: "tool", text: turn.Assistant.ToolText(), form: formPlain, context: headOf(turn.User.RenderedText(), questionTokens)}
	chunks, at := s.chunks(opt), turn.Assistant.ToolTextAt()
	for i := range chunks {
		c := &chunks[i]
		c.Type = chat.ChunkToolResult
		c.Start, c.End = c.Start+at, c.End+at
		for k := range c.Units {
			c.Units[k].Start, c.Units[k].End = c.Units[k].Start+at, c.Units[k].End+at
		}
	}
	return chunks
}

// numbered drops duplicates and numbers the chunks.
func numbered(chunks []chat.Chunk) []chat.Chunk {
	type key struct {
		kind chat.ChunkType
		hash string
	}
	seen := map[key]bool{}
	kept := chunks[:0]
	for _, c := range chunks {
		k := key{c.Type, c.ContentHash}
		if seen[k] {
			continue
		}
		seen[k] = true
		c.Ordinal = len(kept)
		kept = append(kept, c)
	}
	return kept
}

// source is a text to split, with its properties.
type source struct {
	turn    chat.Turn
	role    chat.Role
	speaker string
	text    string
	form    form
	file    chat.FileID // of a document, whose headings are part of the indexed text

	context    string // beginning of the turn's other message
	everywhere bool   // context is indexed with every unit, instead of only the first
}

// form is how a text is parsed.
type form uint8

const (
	formMarkdown form = iota
	formPlain
	formCode
)

func (s source) chunks(opt Options) []chat.Chunk {
	if strings.TrimSpace(s.text) == "" {
		return nil
	}
	ps := s.pieces(opt)
	if len(ps) == 0 {
		return nil
	}
	units := []run{{0, len(ps)}}
	if tokensOf(ps, units[0]) > opt.UnitMax {
		units = group(ps, limits{opt.UnitMin, opt.UnitMax})
	}
	var out []chat.Chunk
	for _, r := range group(joined(ps, units), limits{opt.MinTokens, opt.MaxTokens}) {
		if c, ok := s.chunk(ps, units[r.from:r.to], opt); ok {
			out = append(out, c)
		}
	}
	return out
}

func (s source) pieces(opt Options) []piece {
	c := cutter{text: s.text, limit: opt.UnitMax, path: new(string)}
	switch s.form {
	case formPlain:
		c.plain(0, len(s.text), borderBlock)
	case formCode:
		c.code(0, len(s.text), borderPart)
	default:
		c.markdown()
	}
	return c.out
}

// chunk creates a chunk of units. ok is false if there is only white space.
func (s source) chunk(ps []piece, runs []run, opt Options) (chat.Chunk, bool) {
	var c chat.Chunk
	for _, r := range runs {
		if u, ok := s.unit(ps[r.from:r.to], opt.Count); ok {
			u.Ordinal = len(c.Units)
			c.Units = append(c.Units, u)
			c.Tokens += u.Tokens
		}
	}
	if len(c.Units) == 0 {
		return c, false
	}
	c.SessionID, c.BranchID, c.SourceTurn, c.File, c.Role = s.turn.SessionID, s.turn.BranchID, s.turn.ID, s.file, s.role
	c.Start, c.End = c.Units[0].Start, c.Units[len(c.Units)-1].End
	c.Text = s.text[c.Start:c.End]
	c.ContentHash, c.Version = chat.HashText(c.Text), Version
	c.Type, c.Summary = describe(s.role, s.text, ps[runs[0].from:runs[len(runs)-1].to])
	return c, true
}

// unit creates a unit of pieces. ok is false if there is only white space.
func (s source) unit(ps []piece, count func(string) int) (_ chat.Unit, ok bool) {
	start, end := trim(s.text, int(ps[0].start), int(ps[len(ps)-1].end))
	if start >= end {
		return chat.Unit{}, false
	}
	content := strings.ToValidUTF8(s.text[start:end], "\uFFFD")
	return chat.Unit{
		Role: s.role, Start: start, End: end,
		Tokens: count(content), Text: s.prefix(ps[0]) + content,
	}, true
}

// trim removes blank lines at the beginning and white space at the end. The indentation of the first line is kept,
// because it is part of code.
func trim(text string, start, end int) (int, int) {
	end = start + len(strings.TrimRightFunc(text[start:end], unicode.IsSpace))
	lead := len(text[start:end]) - len(strings.TrimLeftFunc(text[start:end], unicode.IsSpace))
	if nl := strings.LastIndexByte(text[start:start+lead], '\n'); nl >= 0 {
		start += nl + 1
	}
	return start, end
}
