package librarian

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/highlight"
	"contextinfinity/backend/internal/lexical"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/internal/pattern"
)

// Title suggests what a conversation could be called, without a model: what was first
// asked for, and the terms that the whole of it comes back to. It is empty while nothing
// was said. The same turns give the same title.
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
	// requestRunes is the most that is taken of the first request, where words end.
	requestRunes = 40
	// addedTerms is how many terms follow it.
	addedTerms = 2
)

// openings are words before what is asked for, beside those that say nothing.
var openings = map[string]bool{
	"hello": true, "hi": true, "hey": true, "dear": true, "good": true, "morning": true, "thanks": true, "thank": true, "help": true,
	"need": true, "want": true, "like": true, "trying": true, "maybe": true, "ok": true, "okay": true, "so": true, "there": true,
	"hallo": true, "guten": true, "tag": true, "bitte": true, "danke": true, "kannst": true, "könntest": true, "möchte": true, "brauche": true,
}

// firstRequest is what the first message with words asks for: its first sentence that
// says something, without what people begin with.
func firstRequest(turns []chat.Turn) string {
	for _, t := range turns {
		words := withoutCode(t.User.RenderedText())
		for _, sentence := range strings.FieldsFunc(words, func(r rune) bool { return strings.ContainsRune(".?!\n。？！", r) }) {
			if about := subject(sentence); about != "" {
				return about
			}
		}
		if title := t.User.Title(); title != "" && strings.TrimSpace(words) == "" {
			return title // documents alone
		}
	}
	for _, t := range turns { // nothing but openings
		if title := t.User.Title(); title != "" {
			return title
		}
	}
	return ""
}

// subject is a sentence from its first word that says something on; empty: none does.
func subject(sentence string) string {
	words := strings.Fields(sentence)
	start := slices.IndexFunc(words, func(w string) bool {
		w = strings.ToLower(strings.TrimFunc(w, notLetter))
		return w != "" && !lexical.IsStopWord(w) && !openings[w]
	})
	if start < 0 {
		return ""
	}
	var b strings.Builder
	for _, w := range words[start:] {
		if b.Len() > 0 && utf8.RuneCountInString(b.String())+1+utf8.RuneCountInString(w) > requestRunes {
			break
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w)
	}
	about := strings.TrimRight(chat.TitleFrom(b.String()), " ,;:-")
	first, n := utf8.DecodeRuneInString(about)
	return string(unicode.ToUpper(first)) + about[n:]
}

func notLetter(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }

// withoutCode leaves out what is between code fences.
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

// term is a word that a conversation uses.
type term struct {
	word   string // as it was first written
	weight int
	order  int
	last   int // turn that it was counted for, and by whom
}

// recurring are the terms that most turns use, those first that the user names; what is
// in the title already is left out.
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
	least := max(4, len(turns)) // a word of one turn alone is not what it is about
	for _, t := range terms {
		if t.weight >= least && t.weight > 4 {
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

// shortest and longest are how many letters a term has.
const (
	shortestTerm = 4
	longestTerm  = 24
)

// count adds the terms of a message, each once.
func count(terms map[string]*term, text string, message, weight int) {
	for _, w := range strings.FieldsFunc(withoutCode(text), notLetter) {
		n := utf8.RuneCountInString(w)
		if n < shortestTerm || n > longestTerm || lexical.IsStopWord(strings.ToLower(w)) || openings[strings.ToLower(w)] || !strings.ContainsFunc(w, unicode.IsLetter) {
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

// titleLine is what a model begins an answer with that was asked for a title.
var titleLine = pattern.New(`(?i)^(?:#+ *)?[*_]*title[*_]*[:：][*_ ]*(.*)`)

// takeTitle parts an answer into the title that it begins with, if one was asked for, and the rest.
func (r *run) takeTitle(answer string) (title, rest string) {
	if !r.titled {
		return "", answer
	}
	first, rest, _ := strings.Cut(answer, "\n")
	found := titleLine.FindStringSubmatch(first)
	if found == nil {
		return "", answer
	}
	return titleOf(found[1]), strings.TrimSpace(rest)
}

// titleOf is a title as it is kept: without marks around it or a stop, whole, and about what was said;
// empty: it is not one.
func titleOf(given string) string {
	const marks = "\"'`*_“”„«»「」# "
	title := strings.TrimLeft(strings.TrimRight(given, marks+".…。\t"), marks+"\t")
	if strings.Contains(title, pinnedMark) || chat.TitleFrom(title) != title {
		return "" // longer than a title, or with characters that no list shows
	}
	return title
}
