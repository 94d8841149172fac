package librarian

import (
	"cmp"
	"strings"
	"unicode"

	"contextinfinity/backend/internal/display"
	"contextinfinity/backend/internal/intent"
	"contextinfinity/backend/internal/lexical"
)

// Kind is the kind of an entity (SPEC 7).
type Kind string

const (
	KindDecision   Kind = "decision"
	KindConstraint Kind = "constraint"
	KindTask       Kind = "task"
	KindDone       Kind = "done" // a checked box: the task is no longer open
	KindFact       Kind = "fact" // a statement about the user, or with a measured number or date
	KindPath       Kind = "path"
	KindSymbol     Kind = "symbol" // a name in code, or an assignment
	KindID         Kind = "id"
	KindURL        Kind = "url"
)

// Entity is a statement or a name that a summary must not lose, in its original wording.
type Entity struct {
	Kind Kind
	Text string

	inCode bool // a name that occurs only inside a code block
	inItem bool // a name that is in a list
}

// maxScan limits how much of one text is read: its beginning and its end, where people explain a long paste.
const maxScan = 1 << 20

// maxPiece is the maximum length of a statement, in bytes. A longer sentence is split between clauses, and each part
// is judged separately, because people say several things in one sentence.
const maxPiece = 280

// speaker is the author of a text.
type speaker int

const (
	anybody   speaker = iota
	user              // sentences with names, numbers and dates are facts even without a cue word, and so are requests with such details
	assistant         // only sentences with a number are read; no other sentences of an answer are kept
)

// read finds the entities of a speaker's text in order, without duplicates. It uses no grammar: statements are recognized
// by cue words of a dozen languages, names by their form.
func read(text string, by speaker) []Entity {
	x := extraction{seen: map[string]bool{}, read: map[string]bool{}, named: map[string]bool{}, by: by, byUser: by == user}
	if len(text) <= 2*maxScan {
		x.text(text)
	} else {
		x.text(text[:maxScan])
		x.text(text[len(text)-maxScan:])
	}
	return x.found
}

type extraction struct {
	found  []Entity
	seen   map[string]bool
	read   map[string]bool // for each sentence, whether it states something: pasted texts repeat sentences
	named  map[string]bool // lines whose names were found
	by     speaker
	byUser bool // the text is the user's
	list   list // the current list

	sample bool // inside an assistant's sample text
}

func (x *extraction) add(e Entity) {
	k := string(e.Kind) + "\x00" + e.Text
	if e.Text != "" && !x.seen[k] {
		x.seen[k] = true
		x.found = append(x.found, e)
	}
}

// text reads statements only from prose: a heading is not a task, and a table row, a footnote or a quotation is not a
// fact. All of them may contain names.
func (x *extraction) text(text string) {
	text = strings.ToValidUTF8(text, "\uFFFD")
	for b := range intent.Blocks(text) {
		block := text[b.Start:b.End]
		if b.Kind != intent.Item {
			x.endList()
		}
		switch b.Kind {
		case intent.Code:
			x.code(block)
			continue
		case intent.OpenTask:
			x.add(Entity{Kind: KindTask, Text: clipLine(display.OneLine(block), maxPiece)})
		case intent.DoneTask:
			x.add(Entity{Kind: KindDone, Text: clipLine(display.OneLine(block), maxPiece)})
		case intent.Paragraph, intent.Item:
			x.prose(text, b)
		case intent.Heading:
			x.list.begin(block)
			x.sample = x.by == assistant && sampleTitles().MatchString(block)
		}
		if x.sample {
			continue
		}
		x.names(display.OneLine(block), b.Kind == intent.Item)
	}
	x.endList()
}

// prose reads the statements of a paragraph or list entry.
func (x *extraction) prose(text string, b intent.Block) {
	if x.by == assistant && strings.HasSuffix(strings.TrimRight(text[b.Start:b.End], " *\n"), ":") {
		x.sample = sampleTitles().MatchString(text[b.Start:b.End])
	}
	if x.sample {
		return
	}
	last := ""
	for s := range intent.Sentences(text, b.Span) {
		last = plainProse(text[s.Start:s.End])
		stated := x.sentence(last)
		if b.Kind == intent.Item && x.byUser && b.Span == s {
			x.list.entry(last, stated)
		}
	}
	if b.Kind == intent.Paragraph {
		x.list.begin(last)
	}
}

// plainProse is a sentence on one line without emphasis marks.
func plainProse(s string) string {
	return display.OneLine(strings.NewReplacer("**", "", "__", "").Replace(s))
}

// sentence adds what a sentence states, without what it only asks for, and reports whether it states something. A
// sentence that was read before adds nothing.
func (x *extraction) sentence(s string) bool {
	states, wasRead := x.read[s]
	if !wasRead {
		states = x.readSentence(s)
		x.read[s] = states
	}
	return states
}

func (x *extraction) readSentence(s string) bool {
	if x.by == assistant && !strings.ContainsFunc(s, isDigit) {
		return false
	}
	if x.byUser {
		s = withoutThanks(s)
	}
	stated, asked := withoutRequests(s)
	found := false
	for _, piece := range x.pieces(stated) {
		kind := statementKind(piece)
		if kind == "" && x.byUser && (salience(piece) >= enoughDetails || isRemark(piece)) {
			kind = KindFact
		}
		if kind != "" {
			x.add(Entity{Kind: kind, Text: piece})
			found = true
		}
	}
	if x.byUser && asked != "" && details(asked) >= enoughDetails {
		x.add(Entity{Kind: KindFact, Text: clipClause(requestMark+asked, maxPiece)})
		return true
	}
	return found
}

// pieces splits a sentence into statements that are judged separately.
func (x *extraction) pieces(stated string) []string {
	if !x.byUser {
		return lines(stated, maxPiece)
	}
	var out []string
	for _, part := range splitMood(stated) {
		out = append(out, lines(part, maxPiece)...)
	}
	return out
}

// endList keeps a user's list that makes sense only with the sentence before it.
func (x *extraction) endList() {
	if x.byUser {
		for _, piece := range lines(x.list.joined(), maxPiece) {
			x.add(Entity{Kind: KindFact, Text: piece})
		}
	}
	x.list = list{}
}

// list is a sentence that ends in a colon and the short entries after it.
type list struct {
	lead      string
	entries   []string
	dependent int // number of entries that state nothing on their own
}

// Limits of a list that is kept as one statement.
const (
	maxListEntries = 12
	maxListEntry   = 80
)

func (l *list) begin(sentence string) {
	*l = list{}
	sentence = strings.TrimSpace(strings.Trim(plainProse(sentence), "*"))
	if strings.HasSuffix(sentence, ":") || strings.HasSuffix(sentence, "：") {
		l.lead = withoutLead(sentence)
	}
}

func (l *list) entry(text string, stated bool) {
	if len(text) > maxListEntry || len(l.entries) == maxListEntries {
		l.lead = "" // a list of statements, or a long one
	}
	l.entries = append(l.entries, strings.TrimRight(text, ".;,"))
	if !stated {
		l.dependent++
	}
}

func (l *list) joined() string {
	if l.lead == "" || l.dependent == 0 || len(l.entries) == 0 {
		return ""
	}
	return l.lead + " " + strings.Join(l.entries, "; ")
}

// names finds tokens with the form of a name, path, id, address or assignment.
func (x *extraction) names(line string, inItem bool) {
	if x.named[line] {
		return // found before
	}
	x.named[line] = true
	before := len(x.found)
	defer func() {
		for i := range x.found[before:] {
			x.found[before+i].inItem = inItem
		}
	}()
	for _, a := range assignmentsIn(line, assignment, plainAssignment) {
		x.add(Entity{Kind: KindSymbol, Text: a})
	}
	x.inlineCode(line)
	eachToken(line, func(token string, called bool) {
		kind := artifactKind(token)
		if kind == KindPath && called {
			kind = "" // "response.json()" is a call
		}
		if kind != "" {
			x.add(Entity{Kind: kind, Text: token})
		}
	})
}

// inlineCode adds short inline code as names.
func (x *extraction) inlineCode(line string) {
	for {
		_, rest, ok := strings.Cut(line, "`")
		if !ok {
			return
		}
		name, after, ok := strings.Cut(rest, "`")
		if !ok {
			return
		}
		line = after
		if name = strings.TrimSpace(name); len(name) < 2 || len(name) > 80 || !strings.ContainsFunc(name, isWordRune) {
			continue
		}
		kind := artifactKind(name)
		if kind == "" && !x.byUser && onlyRunes(name, unicode.IsLower, "- ") {
			continue // an assistant's emphasis
		}
		kind = cmp.Or(kind, KindSymbol)
		x.add(Entity{Kind: kind, Text: name})
	}
}

// eachToken yields the text between spaces, quotes and brackets, and whether an opening parenthesis follows it.
// Chinese, Japanese and Korean text has no spaces, so a character of such a script ends a name, except in paths and
// addresses, which may contain it.
func eachToken(line string, yield func(token string, called bool)) {
	for start := 0; start < len(line); {
		end := tokenEnd(line, start)
		if end > start {
			called := end < len(line) && line[end] == '('
			part(withoutTemplate(trimToken(line[start:end])), func(t string) { yield(t, called) })
			start = end
			continue
		}
		start += runeLength(line[start:])
	}
}

// withoutTemplate is an address without a query that code fills in.
func withoutTemplate(token string) string {
	if base, query, ok := strings.Cut(token, "?"); ok && strings.Contains(base, "://") && strings.ContainsAny(query, "${") {
		return base
	}
	return token
}

// part yields a token, or its parts in scripts with spaces.
func part(field string, yield func(string)) {
	if len(field) > 256 || len(field) < 2 {
		return
	}
	if beginsLikeAddress(field) || strings.IndexFunc(field, lexical.IsUnspaced) < 0 {
		yield(field)
		return
	}
	for _, p := range strings.FieldsFunc(field, lexical.IsUnspaced) {
		if p = trimToken(p); len(p) >= 2 {
			yield(p)
		}
	}
}

// tokenEnd is the end of the token that begins at start; start if none does. An address includes template
// placeholders: cutting it at a brace would leave half of one.
func tokenEnd(line string, start int) int {
	stop := delimits
	if address(line[start:]) {
		stop = endsAddress
	}
	if n := strings.IndexFunc(line[start:], stop); n >= 0 {
		return start + n
	}
	return len(line)
}

func address(s string) bool {
	scheme, _, ok := strings.Cut(s[:min(len(s), 16)], "://")
	return ok && len(scheme) >= 2 && onlyRunes(scheme, isASCIILetter, "+.-0123456789")
}

func endsAddress(r rune) bool {
	return unicode.IsSpace(r) || strings.ContainsRune("`\"'<>|“”‘’«»，。、；「」『』（）【】《》！？)", r)
}

func delimits(r rune) bool {
	return unicode.IsSpace(r) || strings.ContainsRune("`\"'()[]{}<>,;|“”‘’«»，。、；：「」『』（）【】《》！？", r)
}

func runeLength(s string) int {
	for i := range s {
		if i > 0 {
			return i
		}
	}
	return len(s)
}

// trimToken removes punctuation around a token.
func trimToken(s string) string {
	s = strings.TrimRight(s, ".!?:*,;")
	return strings.TrimLeft(s, "*=")
}

// beginsLikeAddress reports whether a token begins like a path or an address.
func beginsLikeAddress(s string) bool {
	return strings.HasPrefix(s, "/") || strings.HasPrefix(s, "./") || strings.HasPrefix(s, "~/") || strings.Contains(s, "://")
}
