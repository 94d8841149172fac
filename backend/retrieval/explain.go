package retrieval

import (
	"math"
	"strconv"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/highlight"
	"contextinfinity/backend/prompt"
)

const (
	// maxMatchWords limits the words of a Match.
	maxMatchWords = 24
	// namedWords is how many of them its sentence names.
	namedWords = 5
)

// Match is the reason why a passage was found, for display: of a hit, or of a passage in a stored request.
type Match struct {
	Words      []string // of the question, as written in the passage
	Around     []string // of the question, only in the passage's surroundings
	Similarity float64  // calibrated; 0 if not found by vectors
	Keyword    float64
	Turn       int64 // turn_seq of its turn; 0: unknown
	Reasons    []chat.Reason
	Attached   bool // attached manually, not found by a search
}

// Match explains a hit of a query.
func (h Hit) Match(query string) Match {
	m := Match{
		Around: h.Why.Around, Similarity: h.Similarity, Keyword: h.Keyword, Turn: h.TurnSeq, Reasons: h.Why.Reasons(),
	}
	switch {
	case len(h.Why.Words) > 0:
		m.Words = matchedWords(h.Why.Words, h.Text, true)
	case len(h.Why.Around) == 0 && !h.Why.Continues: // the plain ranking gives no explanation
		m.Words = matchedWords(Terms(Ends(query)), h.Text, false)
	}
	return m
}

// MatchOf explains a passage of a stored request by what was stored with it, and by the words that it shares with the
// question.
func MatchOf(question, text string, p prompt.Part, turn int64) Match {
	return Match{
		Words: matchedWords(Terms(Ends(question)), text, false), Similarity: p.Similarity, Keyword: p.Keyword,
		Turn: turn, Reasons: p.Reasons, Attached: p.Attached,
	}
}

// matchedWords returns the terms as they are written in a text, in the order of the query. If certain is set, all terms
// are known to match, and one that only matches a similar spelling is returned as in the query.
func matchedWords(terms []string, text string, certain bool) []string {
	var out []string
	seen := map[string]bool{}
	add := func(word string) {
		if folded := highlight.Fold(word); !seen[folded] {
			seen[folded] = true
			out = append(out, word)
		}
	}
	for _, term := range terms {
		found := false
		// The space makes the term a complete word instead of a prefix.
		for _, parsed := range highlight.Parse(term + " ") {
			for _, s := range parsed.Spans(text) {
				found = true
				add(text[s.Start:s.End])
			}
		}
		if certain && !found {
			add(term)
		}
		if len(out) >= maxMatchWords {
			return out[:maxMatchWords]
		}
	}
	return out
}

// Phrase describes the match in one line: "matched: dual, writes · answer to the question of #19".
func (m Match) Phrase() chat.Phrase {
	if m.Attached {
		return chat.Say("attached manually")
	}
	var parts []chat.Phrase
	if len(m.Words) > 0 {
		parts = append(parts, listed("matched: %s", "matched: %s and %d more", m.Words))
	}
	if len(m.Around) > 0 {
		parts = append(parts, listed("nearby: %s", "nearby: %s and %d more", m.Around))
	}
	if len(parts) == 0 && m.Keyword > 0 {
		parts = append(parts, chat.Say("shares words with the question"))
	}
	if m.Similarity > 0 {
		parts = append(parts, moreSimilar(m.Similarity))
	}
	if len(parts) == 0 {
		parts = append(parts, chat.Say("next to a passage that matches"))
	}
	for _, r := range m.Reasons {
		if text := m.reason(r); !text.IsZero() {
			parts = append(parts, text)
		}
	}
	line := parts[0]
	for _, part := range parts[1:] {
		line = chat.Say("%s · %s", line, part)
	}
	return line
}

func (m Match) reason(r chat.Reason) chat.Phrase {
	switch r {
	case chat.ReasonAnswer:
		if m.Turn > 0 {
			return chat.Say("answer to the question of #%d", m.Turn)
		}
		return chat.Say("answer to a question")
	case chat.ReasonStanding:
		return chat.Say("standing instruction")
	case chat.ReasonRepeat:
		return chat.Say("repeats the question")
	case chat.ReasonQuestion:
		return chat.Say("only asks")
	case chat.ReasonOverview:
		return chat.Say("chosen for an overview over time")
	}
	return chat.Phrase{}
}

// listed names words by one of two formats.
func listed(all, more string, words []string) chat.Phrase {
	rest := len(words) - namedWords
	if rest <= 0 {
		return chat.Say(all, strings.Join(words, ", "))
	}
	return chat.Say(more, strings.Join(words[:namedWords], ", "), rest)
}

// moreSimilar describes a similarity, rounded down so that it never claims too much.
func moreSimilar(share float64) chat.Phrase {
	if share >= 1 {
		return chat.Say("more similar than all unrelated text")
	}
	return chat.Say("more similar than %s %% of unrelated text", strconv.FormatFloat(math.Floor(share*100+1e-6), 'f', -1, 64))
}

// String is Phrase in English.
func (m Match) String() string { return m.Phrase().String() }
