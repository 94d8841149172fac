package librarian

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/highlight"
	"contextinfinity/backend/internal/intent"
	"contextinfinity/backend/internal/lexical"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/internal/pattern"
)

// Title suggests a title for a conversation without a model: the first request, and terms that occur throughout. It
// is empty for an empty conversation. The same turns give the same title.
func Title(turns []chat.Turn) string {
	about := firstRequest(turns)
	if about == "" {
		return ""
	}
	title := about
	for i, term := range recurring(turns, about) {
		next := title + ", " + term
		if i == 0 {
			next = title + ": " + term
		}
		if utf8.RuneCountInString(next) > chat.TitleRunes {
			break
		}
		title = next
	}
	return chat.TitleFrom(title)
}

const (
	// requestRunes is the maximum length of the first request, cut between words.
	requestRunes = 40
	// addedTerms is how many terms follow the request.
	addedTerms = 2
)

// openings are words before a request, besides stop words.
var openings = map[string]bool{
	"hello": true, "hi": true, "hey": true, "dear": true, "good": true, "morning": true, "thanks": true, "thank": true, "help": true,
	"need": true, "want": true, "like": true, "trying": true, "maybe": true, "ok": true, "okay": true, "so": true, "there": true,
	"hallo": true, "guten": true, "tag": true, "bitte": true, "danke": true, "kannst": true, "könntest": true, "möchte": true, "brauche": true,
}

// firstRequest is the request in the first message with text: its first meaningful sentence, without openings.
func firstRequest(turns []chat.Turn) string {
	for _, t := range turns {
		words := withoutCode(t.User.RenderedText())
		for line := range strings.SplitSeq(words, "\n") {
			for s := range intent.Sentences(line, intent.Span{End: len(line)}) {
				if about := subject(strings.TrimRight(line[s.Start:s.End], ".?!。？！")); about != "" {
					return about
				}
			}
		}
		if title := t.User.Title(); title != "" && strings.TrimSpace(words) == "" {
			return title // documents only
		}
	}
	for _, t := range turns { // only openings
		if title := t.User.Title(); title != "" {
			return title
		}
	}
	return ""
}

// subject is a sentence from its first meaningful word on; empty: there is none.
func subject(sentence string) string {
	words := strings.Fields(sentence)
	start := slices.IndexFunc(words, func(w string) bool {
		w = strings.ToLower(strings.TrimFunc(w, notLetter))
		return w != "" && !lexical.IsStopWord(w) && !openings[w]
	})
	if start < 0 {
		return ""
	}
	words = words[start:]
	n, length := 1, utf8.RuneCountInString(words[0])
	for n < len(words) && length+1+utf8.RuneCountInString(words[n]) <= requestRunes {
		length += 1 + utf8.RuneCountInString(words[n])
		n++
	}
	about := chat.TitleFrom(strings.Join(words[:n], " "))
	if n < len(words) {
		about = chat.EndTitle(about)
	}
	about = strings.TrimRight(about, " ,;:-")
	first, size := utf8.DecodeRuneInString(about)
	return string(unicode.ToUpper(first)) + about[size:]
}

func notLetter(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }

// withoutCode removes code blocks.
func withoutCode(text string) string {
	parts := strings.Split(text, "```")
	var out []string
	for i, p := range parts {
		if i%2 == 0 {
			out = append(out, p)
		}
	}
	return strings.Join(out, "\n")
}

// term is a word used in a conversation.
type term struct {
	word   string // in its first spelling
	weight int
	order  int
	last   int // turn and speaker for which it was last counted
}

// recurring returns the terms used in most turns, without those already in the title. Terms that the user mentions
// weigh more and come first.
func recurring(turns []chat.Turn, title string) []string {
	terms := map[string]*term{}
	for i, t := range turns {
		count(terms, t.User.RenderedText(), 2*i+1, 3)
		if t.Assistant != nil {
			count(terms, t.Assistant.RenderedText(), 2*i+2, 1)
		}
	}
	for _, w := range strings.FieldsFunc(title, notLetter) {
		delete(terms, highlight.Fold(highlight.Stem(w)))
	}
	var list []*term
	minWeight := max(4, len(turns)) // a word of a single turn is not the subject
	for _, t := range terms {
		if t.weight >= minWeight && t.weight > 4 {
			list = append(list, t)
		}
	}
	slices.SortFunc(list, func(a, b *term) int {
		if a.weight != b.weight {
			return b.weight - a.weight
		}
		return a.order - b.order
	})
	return lists.Map(list[:min(len(list), addedTerms)], func(t *term) string { return t.word })
}

// shortestTerm and longestTerm limit the length of a term, in characters.
const (
	shortestTerm = 4
	longestTerm  = 24
)

// count adds the terms of a message, each once.
func count(terms map[string]*term, text string, message, weight int) {
	for _, w := range strings.FieldsFunc(withoutCode(text), notLetter) {
		n, lower := utf8.RuneCountInString(w), strings.ToLower(w)
		if n < shortestTerm || n > longestTerm || lexical.IsStopWord(lower) || openings[lower] || chat.NeedsNextWord(lower) || !strings.ContainsFunc(w, unicode.IsLetter) {
			continue
		}
		key := highlight.Fold(highlight.Stem(w))
		t := terms[key]
		if t == nil {
			t = &term{word: w, order: len(terms)}
			terms[key] = t
		}
		if t.last != message {
			t.last = message
			t.weight += weight
		}
	}
}

// titleLine matches the first line of an answer that was asked for a title.
var titleLine = pattern.New(`(?i)^(?:#+ *)?[*_]*title[*_]*[:：][*_ ]*(.*)`)

// takeTitle splits an answer into the title at its beginning, if one was requested, and the rest.
func (r *run) takeTitle(answer string) (title, rest string) {
	if !r.titled {
		return "", answer
	}
	first, rest, _ := strings.Cut(answer, "\n")
	found := titleLine().FindStringSubmatch(first)
	if found == nil {
		return "", answer
	}
	return titleOf(found[1]), strings.TrimSpace(rest)
}

// titleOf is a title as stored: without surrounding marks or a full stop, complete, and about the conversation;
// empty: it is not a title.
func titleOf(text string) string {
	const marks = "\"'`*_“”„«»「」# "
	title := strings.TrimLeft(strings.TrimRight(text, marks+".…。\t"), marks+"\t")
	if strings.Contains(title, pinnedMark) || chat.TitleFrom(title) != title {
		return "" // longer than a title, or with characters that no list shows
	}
	return title
}
