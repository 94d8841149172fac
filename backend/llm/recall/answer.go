package recall

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/retrieval"
)

// nearest is the maximum number of passages in an answer if none has a word of the question: further ones are usually about
// something else.
const nearest = 2

// answer returns the complete text and the turns that it quotes. Pinned facts come first, because they apply to the
// whole conversation.
func (p *Provider) answer(ctx context.Context, req request) (string, []chat.TurnID, error) {
	w := p.texts()
	if req.NoMemory {
		return w.noMemory, nil, nil
	}
	terms := retrieval.Terms(retrieval.Ends(req.Query))
	if len(terms) == 0 {
		return p.noResults(ctx, w, w.noWords)
	}
	found, err := p.memory.Search(ctx, Query{Text: req.Query, Branch: req.Branch, Scope: req.Scope, Limit: req.Limit})
	if err != nil {
		return "", nil, err
	}
	found = selectPassages(found, req.Limit)
	facts := factsAbout(req.Facts, terms, req.Limit)
	byMeaning := len(facts) == 0 && !slices.ContainsFunc(found, func(p Passage) bool { return !p.ByMeaning })
	if byMeaning {
		found = found[:min(len(found), nearest)]
	}
	asksNothing := retrieval.AsksNothing(retrieval.Ends(req.Query))
	if len(found)+len(facts) == 0 {
		if asksNothing {
			return p.noResults(ctx, w, w.saved+w.nothingElse)
		}
		if scope := w.scopeNames[req.Scope]; scope != "" { // the user chose it
			return fmt.Sprintf(w.notFoundIn, scope), nil, nil
		}
		elsewhere, err := p.onSiblings(ctx, w, req)
		if err != nil {
			return "", nil, err
		}
		return p.noResults(ctx, w, w.notFound+elsewhere)
	}
	var sb strings.Builder
	if asksNothing {
		sb.WriteString(w.saved)
	}
	fmt.Fprintf(&sb, w.introduction, p.date(w, p.now.Now()))
	if byMeaning {
		sb.WriteString(w.byMeaning)
	}
	sb.WriteString(quoteFacts(w.projectFacts, facts, true, terms))
	sb.WriteString(quoteFacts(w.sessionFacts, facts, false, terms))
	var turns []chat.TurnID
	for _, session := range bySession(found) {
		fmt.Fprintf(&sb, "\n### %s\n", w.title(session[0].SessionTitle))
		for _, passage := range session {
			sb.WriteString(p.quote(w, passage, terms))
			if !slices.Contains(turns, passage.TurnID) {
				turns = append(turns, passage.TurnID)
			}
		}
	}
	return sb.String(), turns, nil
}

// onSiblings names what only another branch of the session has, such as what a message said before it was edited. It is
// not quoted, because it may be what the edit corrected.
func (p *Provider) onSiblings(ctx context.Context, w *texts, req request) (string, error) {
	found, err := p.memory.Search(ctx, Query{Text: req.Query, Branch: req.Branch, Scope: chat.ScopeSession, Limit: req.Limit})
	asks := func(p Passage) bool {
		return p.Role == chat.RoleUser && p.Document == "" && !retrieval.AsksNothing(p.Text)
	}
	if found = selectPassages(slices.DeleteFunc(found, asks), 1); err != nil || len(found) == 0 {
		return "", err // a question, such as this one before it was edited, says nothing about it
	}
	return fmt.Sprintf(w.onSiblings, found[0].TurnID), nil
}

// noResults returns the explanation of recall if there is no history yet, otherwise the other text.
func (p *Provider) noResults(ctx context.Context, w *texts, otherwise string) (string, []chat.TurnID, error) {
	sizer, ok := p.memory.(Sizer)
	if !ok {
		return otherwise, nil, nil
	}
	turns, err := sizer.Turns(ctx)
	if err != nil {
		return "", nil, err
	}
	if turns == 0 {
		return w.emptyHistory, nil, nil
	}
	return otherwise, nil, nil
}

// selectPassages drops recall's own text and repetitions, and sorts the rest: the best first, the newest among equals.
func selectPassages(found []Passage, limit int) []Passage {
	type key struct {
		turn chat.TurnID
		text string
	}
	seen := map[key]bool{}
	var out []Passage
	for _, p := range found {
		k := key{p.TurnID, p.Text}
		if p.Provider == Name || seen[k] || strings.TrimSpace(p.Text) == "" {
			continue
		}
		seen[k] = true
		out = append(out, p)
	}
	slices.SortStableFunc(out, func(a, b Passage) int {
		switch {
		case a.Score > b.Score:
			return -1
		case a.Score < b.Score:
			return 1
		}
		return b.At.Compare(a.At)
	})
	return out[:min(len(out), limit)]
}

// bySession groups passages, the session with the best passage first.
func bySession(found []Passage) [][]Passage {
	index := map[chat.SessionID]int{}
	var out [][]Passage
	for _, p := range found {
		i, ok := index[p.SessionID]
		if !ok {
			i = len(out)
			index[p.SessionID] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], p)
	}
	return out
}

// quote returns one passage: speaker, time and place, then the text.
func (p *Provider) quote(w *texts, passage Passage, terms []string) string {
	var sb strings.Builder
	fmt.Fprintf(&sb, w.attribution, w.speaker(passage), p.date(w, passage.At), passage.TurnID)
	writeQuotation(&sb, excerpt(passage.Text, terms))
	return sb.String()
}

// writeQuotation writes a text as a Markdown quotation.
func writeQuotation(sb *strings.Builder, text string) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		sb.WriteString(strings.TrimRight("> "+line, " ") + "\n")
	}
}

// date formats a time in the reader's time zone.
func (p *Provider) date(w *texts, at time.Time) string { return w.date(at.In(p.zone)) }

// markdown escapes the characters that would affect a heading.
var markdown = strings.NewReplacer(
	"\\", "\\\\", "*", "\\*", "_", "\\_", "`", "\\`", "[", "\\[", "]", "\\]", "<", "\\<", "#", "\\#")

func heading(title string) string { return markdown.Replace(strings.Join(strings.Fields(title), " ")) }

// maxExcerpt limits one quotation, in bytes: the search has already chosen the relevant part of a long text.
const maxExcerpt = 2400

// excerpt returns the part of a long text around the first matching term, cut between words.
func excerpt(text string, terms []string) string {
	text = strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD"))
	if len(text) <= maxExcerpt {
		return text
	}
	start := 0
	lower := strings.ToLower(text)
	for _, t := range terms {
		// Lower case can have another length; the offset is only approximate and kept in bounds.
		if i := strings.Index(lower, t); i > maxExcerpt/3 {
			start = min(i, len(text)) - maxExcerpt/3
			break
		} else if i >= 0 {
			break
		}
	}
	start = min(start, len(text)-maxExcerpt)
	end := start + maxExcerpt
	out := cutWords(text, start, end)
	if start > 0 {
		out = "… " + out
	}
	if end < len(text) {
		out += " …"
	}
	return out
}

// cutWords returns text[start:end] without partial words at its ends.
func cutWords(text string, start, end int) string {
	for start > 0 && !utf8.RuneStart(text[start]) {
		start++
	}
	for end < len(text) && !utf8.RuneStart(text[end]) {
		end--
	}
	out := text[start:end]
	const maxTrim = 40 // a language without spaces is cut between characters
	if i := strings.IndexAny(out, " \n"); start > 0 && i >= 0 && i < maxTrim {
		out = out[i+1:]
	}
	if i := strings.LastIndexAny(out, " \n"); end < len(text) && i > len(out)-maxTrim && i > 0 {
		out = out[:i]
	}
	return strings.TrimSpace(out)
}
