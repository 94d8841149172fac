package api

import (
	"context"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/highlight"
	"contextinfinity/backend/retrieval"
)

// chunks returns the existing chunks, by id.
func (c *Core) chunks(ctx context.Context, ids []chat.ChunkID) (map[chat.ChunkID]chat.ChunkText, error) {
	out := map[chat.ChunkID]chat.ChunkText{}
	if len(ids) == 0 {
		return out, nil
	}
	found, err := c.Inspecting.ChunkTexts(ctx, ids)
	for _, t := range found {
		out[t.ID] = t
	}
	return out, err
}

// listMarker matches the beginning of a list entry.
var listMarker = regexp.MustCompile(`^[-*+•]\s+`)

// blankLines matches line breaks with only white space around them.
var blankLines = regexp.MustCompile(`[ \t]*\n\s*`)

// chunkRow describes a chunk with an excerpt that starts at a byte of its text. An excerpt of prose has no
// Markdown syntax and no blank lines.
func chunkRow(c chat.ChunkText, at int) ChunkRow {
	text := c.Text
	if c.File == nil && c.Type != chat.ChunkCode {
		text, at = highlight.UnmarkedAt(text, at)
	}
	shown := excerpt(text, at)
	if c.Type != chat.ChunkCode {
		shown = listMarker.ReplaceAllString(strings.TrimSpace(blankLines.ReplaceAllString(shown, "\n")), "")
	}
	r := ChunkRow{
		ID: string(c.ID), TurnID: string(c.SourceTurn), TurnSeq: c.TurnSeq, SessionID: string(c.SessionID), SessionTitle: chat.BoundTitle(c.SessionTitle),
		BranchID: string(c.BranchID), Role: string(c.Role), Speaker: c.Speaker, Type: c.Type, Excerpt: shown,
		Summary: c.Brief(), Tokens: c.Tokens, At: ms(c.At),
	}
	if c.File != nil {
		r.Document = c.File.Name
	}
	if c.ProjectFile && c.File != nil { // not part of a conversation that could be opened
		r.Document, r.TurnSeq = c.File.Name+", "+retrieval.Place(c, nil), 0
	}
	return r
}

// excerptRunes is how much of a chunk a list shows; wordRunes is how far a cut may be moved to a word boundary.
const (
	excerptRunes = 300
	wordRunes    = 20
)

// excerpt returns a part of a text that starts at a byte, or earlier if the text ends before the limit. Omitted parts are
// marked.
func excerpt(text string, at int) string {
	runes := []rune(text)
	if len(runes) <= excerptRunes {
		return strings.TrimSpace(string(runes))
	}
	at = min(max(at, 0), len(text))
	from := min(utf8.RuneCountInString(text[:at]), len(runes)-excerptRunes)
	to := from + excerptRunes
	from, to = wordStart(runes, from), wordEnd(runes, to)
	out := strings.TrimSpace(string(runes[from:to]))
	if from > 0 {
		out = "… " + out
	}
	if to < len(runes) {
		out += " …"
	}
	return out
}

// wordStart moves a start back to the beginning of the text or of its word, if that is near.
func wordStart(runes []rune, at int) int {
	if at <= wordRunes {
		return 0
	}
	for i := at; i > 0 && at-i <= wordRunes; i-- {
		if unicode.IsSpace(runes[i-1]) {
			return i
		}
	}
	return at
}

// wordEnd moves an end inside a word back to the beginning of that word, if that is near.
func wordEnd(runes []rune, at int) int {
	for i := at; i < len(runes) && i > 0 && at-i <= wordRunes; i-- {
		if unicode.IsSpace(runes[i]) {
			return i
		}
	}
	return at
}

func memoryChip(c chat.ChunkText) MemoryChip {
	m := MemoryChip{ID: string(c.ID), At: ms(c.At), Role: string(c.Role), Speaker: c.Speaker, Title: chat.TitleFrom(chunkRow(c, 0).Excerpt)}
	if c.File != nil {
		m.Document = c.File.Name
	}
	return m
}

// chips returns descriptions of attached chunks.
func (c *Core) chips(ctx context.Context, ids []chat.ChunkID) ([]MemoryChip, error) {
	out := []MemoryChip{}
	existing, err := c.chunks(ctx, ids)
	if err != nil {
		return out, err
	}
	for _, id := range ids {
		chip := MemoryChip{ID: string(id)} // a chunk that does not exist can still be removed
		if t, ok := existing[id]; ok {
			chip = memoryChip(t)
		}
		out = append(out, chip)
	}
	return out, nil
}

// nameMemories sets the names of the attached chunks of turns. If the chunks cannot be read, the turns are shown without
// these names.
func (c *Core) nameMemories(ctx context.Context, turns []chat.Turn, views []TurnView) {
	var ids []chat.ChunkID
	for _, t := range turns {
		ids = append(ids, t.User.Blocks.Memories()...)
	}
	if len(ids) == 0 {
		return
	}
	chips, err := c.chips(ctx, ids)
	if err != nil {
		c.Log.Warn("attached memory cannot be read", "err", err)
		return
	}
	named := map[string]MemoryChip{}
	for _, chip := range chips {
		named[chip.ID] = chip
	}
	for i := range views {
		for j := range views[i].User {
			if b := &views[i].User[j]; b.Kind == "memory" {
				chip := named[b.ID]
				b.Memory, b.Text = &chip, chip.Title
			}
		}
	}
}

// setRecalled sets how much memory turns had, or why they had none.
func (c *Core) setRecalled(ctx context.Context, ids []chat.TurnID, views []TurnView) {
	found, err := c.Store.Recalled(ctx, ids)
	if err != nil {
		c.Log.Warn("the memory that turns used cannot be read", "err", err)
		return
	}
	for i := range views {
		r := found[chat.TurnID(views[i].ID)]
		views[i].Memories, views[i].MemoryError = r.Pieces, r.Error
	}
}

// maxMemories limits the chunks attached to one message.
const maxMemories = 20

// memoryBlocks returns blocks for the chunks attached to a message, each once.
func memoryBlocks(chips []MemoryChip) (chat.Blocks, error) {
	var out chat.Blocks
	seen := map[string]bool{}
	for _, chip := range chips {
		if seen[chip.ID] {
			continue
		}
		seen[chip.ID] = true
		out = append(out, chat.Memory{Chunk: chat.ChunkID(chip.ID)})
	}
	if len(out) > maxMemories {
		return nil, chat.Errorf(chat.CodeInvalid, "chat.memory", "%d memories are attached, but at most %d can be; nothing was sent.", len(out), maxMemories).
			WithHint("remove some of them; memory is searched for each message anyway")
	}
	return out, nil
}

// checkMemories returns an error if an attached chunk does not exist.
func (c *Core) checkMemories(ctx context.Context, m chat.Message) error {
	ids := m.Blocks.Memories()
	existing, err := c.chunks(ctx, ids)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if _, ok := existing[id]; !ok {
			return chat.Errorf(chat.CodeNotFound, "chat.memory", "An attached memory no longer exists; nothing was sent.").
				WithHint("remove it from the message; the original text is still in its session")
		}
	}
	return nil
}
