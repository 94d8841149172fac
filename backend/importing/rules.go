package importing

import (
	"strings"
	"unicode/utf8"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/librarian"
	"contextinfinity/backend/transfer"
)

// documentTokens is how much of a document is included in its message. The rest is in memory, and recalled when
// relevant.
const documentTokens = 8_000

// rules returns the rules for writing a conversation.
func (r *run) rules(c transfer.Conversation) chat.ImportRules {
	d := r.s.d
	rules := chat.ImportRules{
		Summarize: func(previous string, pins []chat.Pin, turns []chat.Turn) chat.State {
			sum := librarian.Fallback(librarian.Update{Previous: previous, Pins: pins, Turns: turns, Target: d.Target(), Count: d.Count})
			facts := make([]string, len(pins))
			for i, p := range pins {
				facts[i] = p.Text
			}
			return chat.State{Summary: sum.Summary, PinnedFacts: strings.Join(facts, "\n"), TokenCount: sum.Tokens, Validation: sum.Validation}
		},
		Excerpt: func(text string) (string, int) { return excerpt(text, d.Count) },
	}
	if d.Model != nil && c.Model != "" {
		rules.Model = d.Model(c.Provider, c.Model)
	}
	return rules
}

// excerpt returns the beginning of a text that is too large for a message, cut at a line or word if that keeps most of
// it, and the token count of the whole text.
func excerpt(text string, count func(string) int) (string, int) {
	tokens := count(text)
	if tokens <= documentTokens {
		return text, tokens
	}
	end := int(int64(len(text)) * documentTokens / int64(tokens))
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	for _, separator := range []string{"\n\n", "\n", " "} {
		if i := strings.LastIndex(text[:end], separator); i > end/2 {
			return text[:i], tokens
		}
	}
	return text[:end], tokens
}
