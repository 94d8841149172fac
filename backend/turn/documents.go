package turn

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/prompt"
)

// documentShare is the share of the ceiling for all documents of a message. Their other text is in memory, and recalled
// when relevant.
const documentShare = 0.25

// freeze sets the text that the model sees of a message's documents from now on: all of it or, if it is too large for
// a prompt, the beginning and the most relevant parts. Without memory nothing is left out, because it could not be
// found again.
func (e *Engine) freeze(ctx context.Context, m chat.Message, model Model) (chat.Message, error) {
	docs, err := e.documents(ctx, m.Blocks)
	if err != nil || len(docs) == 0 {
		return m, err
	}
	policy := e.settings().Policy
	available := int(documentShare * float64(prompt.NewBudget(model.Limits, policy, 1).Ceiling))
	shares := divide(docs, available)
	out := chat.Message{Role: m.Role, Name: m.Name}
	done := map[chat.FileID]bool{}
	for _, b := range m.Blocks {
		d, ok := b.(chat.Document)
		if !ok {
			out.Blocks = append(out.Blocks, b)
			continue
		}
		if done[d.File] {
			continue
		}
		done[d.File] = true
		d = docs[d.File]
		if policy.History != prompt.HistoryOff && d.Tokens > shares[d.File] {
			d.Text, d.Complete = excerpt(d.Text, m.RenderedText(), shares[d.File], e.count(model)), false
		}
		out.Blocks = append(out.Blocks, d)
	}
	return out, nil
}

// documents reads the named files with their complete text.
func (e *Engine) documents(ctx context.Context, blocks chat.Blocks) (map[chat.FileID]chat.Document, error) {
	out := map[chat.FileID]chat.Document{}
	for _, d := range blocks.Documents() {
		f, err := e.past.File(ctx, d.File)
		if chat.CodeOf(err) == chat.CodeNotFound {
			return nil, chat.Errorf(chat.CodeInvalid, "turn.document", "The document %q is no longer stored; nothing was sent.", d.Name).
				WithHint("attach it again")
		}
		if err != nil {
			return nil, err
		}
		d.Name = cmp.Or(d.Name, f.Name)
		d.MediaType, d.Tokens, d.Complete = f.MediaType, f.Tokens, true
		if d.Text, err = e.past.FileText(ctx, d.File); err != nil {
			return nil, err
		}
		out[d.File] = d
	}
	return out, nil
}

// divide divides the available tokens among documents.
func divide(docs map[chat.FileID]chat.Document, available int) map[chat.FileID]int {
	ids := slices.Sorted(maps.Keys(docs))
	sizes := lists.Map(ids, func(id chat.FileID) int { return docs[id].Tokens })
	shares := map[chat.FileID]int{}
	for i, share := range prompt.Divide(sizes, available) {
		shares[ids[i]] = share
	}
	return shares
}

// maxTokenBytes is more than the average size of a token in any script.
const maxTokenBytes = 8

// beginning is the beginning of a text within maxTokens, cut at a paragraph, otherwise a line, otherwise a word, if
// that keeps most of it.
func beginning(text string, maxTokens int, count func(string) int) string {
	end := min(len(text), maxTokens*maxTokenBytes)
	for end > 0 {
		tokens := count(text[:end])
		if tokens <= maxTokens {
			break
		}
		end = min(end-1, end*maxTokens/tokens*99/100) // assumes about the same bytes per token throughout
		for end > 0 && !utf8.RuneStart(text[end]) {
			end--
		}
	}
	if end == len(text) {
		return text
	}
	for _, border := range []string{"\n\n", "\n", " "} {
		if at := strings.LastIndex(text[:end], border); at > end/2 {
			return text[:at]
		}
	}
	return strings.ToValidUTF8(text[:end], "")
}
