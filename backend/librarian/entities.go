package librarian

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"contextinfinity/backend/internal/cues"
)

// Kind is what an entity is (SPEC 7).
type Kind string

const (
	KindDecision   Kind = "decision"
	KindConstraint Kind = "constraint"
	KindTask       Kind = "task"
	KindDone       Kind = "done" // a checked box: the task is open no more
	KindFact       Kind = "fact" // a statement about the user, or with a measured number or date
	KindPath       Kind = "path"
	KindSymbol     Kind = "symbol"
	KindID         Kind = "id"
	KindURL        Kind = "url"
)

// Entity is something a summary must not lose, as the text has it.
type Entity struct {
	Kind Kind
	Text string
}

// maxScan bounds how much of one text is read: its beginning and its end, where
// people say what a long paste is for.
const maxScan = 1 << 20

// maxPiece bounds a statement, in bytes; longer sentences are read in pieces.
const maxPiece = 240

// Entities finds the entities of a text in the order they stand, each once. It
// knows no grammar: statements are recognised by cue words of a dozen languages,
// names by their form.
func Entities(text string) []Entity { return read(text, false) }

// read is Entities; of what a user told, it also takes sentences for facts that
// no cue word marks, but names, numbers and dates do.
func read(text string, told bool) []Entity {
	x := extraction{seen: map[Entity]bool{}, told: told}
	if len(text) <= 2*maxScan {
		x.text(text)
	} else {
		x.text(text[:maxScan])
		x.text(text[len(text)-maxScan:])
	}
	return x.found
}

type extraction struct {
	found []Entity
	seen  map[Entity]bool
	fence string // the mark that opened the code block we are in
	told  bool   // by the user
}

func (x *extraction) add(kind Kind, text string) {
	e := Entity{kind, text}
	if text != "" && !x.seen[e] {
		x.seen[e] = true
		x.found = append(x.found, e)
	}
}

func (x *extraction) text(text string) {
	x.fence = ""
	for line := range strings.Lines(strings.ToValidUTF8(text, "\uFFFD")) {
		line = strings.TrimSpace(line)
		switch {
		case line == "":
		case x.atFence(line):
		case x.fence != "":
			x.code(line)
		default:
			x.prose(line)
		}
	}
}

// atFence reports that the line opens or closes a code block.
func (x *extraction) atFence(line string) bool {
	for _, mark := range []string{"```", "~~~"} {
		if strings.HasPrefix(line, mark) && (x.fence == "" || x.fence == mark) {
			if x.fence == "" {
				x.fence = mark
			} else {
				x.fence = ""
			}
			return true
		}
	}
	return false
}

// code keeps what a block declares and the files it names, not its every word.
func (x *extraction) code(line string) {
	if name := declared(line); name != "" {
		x.add(KindSymbol, name)
	}
	eachToken(line, func(token string) {
		if kind := artifactKind(token); kind == KindPath || kind == KindURL {
			x.add(kind, token)
		}
	})
}

func (x *extraction) prose(line string) {
	item := strings.TrimLeft(line, "#> \t")
	item, _ = cutBullet(item)
	switch {
	case strings.HasPrefix(item, "[ ] "):
		x.add(KindTask, clip(strings.TrimSpace(item[4:]), maxPiece))
	case strings.HasPrefix(item, "[x] "), strings.HasPrefix(item, "[X] "):
		x.add(KindDone, clip(strings.TrimSpace(item[4:]), maxPiece))
	default:
		eachSentence(item, func(sentence string) {
			switch kind := statementKind(sentence); {
			case kind != "":
				x.add(kind, sentence)
			case x.told && salience(sentence) >= tellsEnough:
				x.add(KindFact, sentence)
			}
		})
	}
	x.inlineCode(line)
	eachToken(line, func(token string) {
		if kind := artifactKind(token); kind != "" {
			x.add(kind, token)
		}
	})
}

// inlineCode takes what stands in single backticks for a name, if it is short.
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
		if name = strings.TrimSpace(name); len(name) < 2 || len(name) > 80 {
			continue
		}
		kind := artifactKind(name)
		if kind == "" {
			kind = KindSymbol
		}
		x.add(kind, name)
	}
}

// eachSentence cuts a line at the ends of its sentences, and long sentences into
// pieces.
func eachSentence(line string, yield func(string)) {
	start := 0
	emit := func(end int) {
		if s := strings.TrimSpace(line[start:end]); s != "" {
			yield(s)
		}
		start = end
	}
	for i, r := range line {
		next := i + utf8.RuneLen(r)
		switch {
		case i < start:
		case cues.EndsSentence(r) && (r > unicode.MaxLatin1 || next == len(line) || line[next] == ' '):
			emit(next)
		case next-start >= maxPiece-utf8.UTFMax:
			if space := strings.LastIndexByte(line[start:next], ' '); space > maxPiece/2 {
				next = start + space
			}
			emit(next)
		}
	}
	emit(len(line))
}

// eachToken yields what stands between spaces, quotes and brackets. Chinese,
// Japanese and Korean text has no spaces, so names in it end where it begins,
// except in paths and addresses, which may hold it.
func eachToken(line string, yield func(string)) {
	for _, field := range strings.FieldsFunc(line, delimits) {
		field = trimToken(field)
		if len(field) > 256 || len(field) < 2 {
			continue
		}
		if rooted(field) || strings.IndexFunc(field, cues.Unspaced) < 0 {
			yield(field)
			continue
		}
		for _, part := range strings.FieldsFunc(field, cues.Unspaced) {
			if part = trimToken(part); len(part) >= 2 {
				yield(part)
			}
		}
	}
}

func delimits(r rune) bool {
	return unicode.IsSpace(r) || strings.ContainsRune("`\"'()[]{}<>,;|“”‘’«»，。、；：「」『』（）【】《》！？", r)
}

// trimToken removes the punctuation of the sentence around a token.
func trimToken(s string) string {
	s = strings.TrimRight(s, ".!?:*")
	return strings.TrimLeft(s, "*=")
}

// rooted reports a token that begins as a path or an address does.
func rooted(s string) bool {
	return strings.HasPrefix(s, "/") || strings.HasPrefix(s, "./") || strings.HasPrefix(s, "~/") || strings.Contains(s, "://")
}
