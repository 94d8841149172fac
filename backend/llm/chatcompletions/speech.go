package chatcompletions

import (
	"encoding/json"
	"strings"
	"unicode"

	"contextinfinity/backend/internal/wire"
)

// speech is the text of an answer as servers send it. Pieces continue the text, but some servers repeat the whole text in
// the last piece, in a message beside the pieces, or in every piece. A model's reasoning may be part of the text, between
// marks at its start.
type speech struct {
	all    wire.Text // what was said so far, with marks
	pieces int
	whole  bool // every piece repeats the text so far
	// held is the second piece if it begins with the first: the third one shows whether it repeats it.
	held json.RawMessage

	state   speechState
	pending string // may be the start of a mark
	close   []string
	harmony bool
}

type speechState int

const (
	atStart speechState = iota // of the text, or between two parts of a harmony answer: a mark may follow
	inThought
	afterThought // white space before the answer is skipped
	inAnswer
)

// said is a piece of one kind.
type said struct {
	text    string
	thought bool
}

// add adds a piece. last: the piece is the answer's last one.
func (s *speech) add(raw json.RawMessage, last bool) []said {
	if len(raw) < 2 || raw[0] != '"' {
		return nil
	}
	fresh := ""
	switch rest, repeated := s.beyond(raw); {
	case len(raw) == 2:
	case s.held != nil:
		held := s.held
		s.held = nil
		if text, before := wire.Unquote(raw), wire.Unquote(held); text != before && strings.HasPrefix(text, before) {
			s.whole = true
			fresh = s.say(rest)
			break
		}
		fresh = s.all.Append(held) + s.all.Append(raw)
	case repeated && (s.whole || rest != "" && s.isDistinctive() || last && s.pieces > 1):
		s.whole = true
		fresh = s.say(rest)
	case repeated && rest != "" && s.pieces == 1 && !last && strings.TrimSpace(s.all.String()) != "":
		s.held = append(json.RawMessage{}, raw...)
	default:
		fresh = s.all.Append(raw)
	}
	if len(raw) > 2 {
		s.pieces++
	}
	return s.split(fresh)
}

// complete compares the text with the whole text of a message; if they differ, what was said stays.
func (s *speech) complete(raw json.RawMessage) []said {
	if s.held != nil && strings.HasPrefix(wire.Unquote(raw), wire.Unquote(s.held)) {
		s.held = nil
	}
	out := s.flush()
	if rest, repeats := s.beyond(raw); repeats || s.all.Len() == 0 && len(rest) > 0 {
		out = append(out, s.split(s.say(rest))...)
	}
	return out
}

// beyond returns what a piece adds if it begins with all that was said.
func (s *speech) beyond(raw json.RawMessage) (rest string, repeats bool) {
	if len(raw)-2 < s.all.Len() { // most pieces: an escaped text is never shorter
		return "", false
	}
	rest, begins := strings.CutPrefix(wire.Unquote(raw), s.all.String())
	return rest, begins && s.all.Len() > 0
}

func (s *speech) say(text string) string {
	s.all.AppendString(text)
	return text
}

// isDistinctive reports whether a piece that begins with all of the text so far can only be a repetition.
func (s *speech) isDistinctive() bool {
	const length, letters = 16, 6
	if s.all.Len() < length {
		return false
	}
	different := map[rune]bool{}
	for _, r := range s.all.String() {
		if unicode.IsLetter(r) {
			different[r] = true
		}
		if len(different) == letters {
			return true
		}
	}
	return false
}

// flush returns what was held back, at the end of the answer.
func (s *speech) flush() []said {
	var out []said
	if s.held != nil {
		held := s.held
		s.held = nil
		out = s.split(s.all.Append(held))
	}
	return out
}

// end returns everything that was held back.
func (s *speech) end() []said {
	out := s.flush()
	if s.pending != "" {
		out = append(out, said{s.pending, s.state == inThought})
		s.pending = ""
	}
	return out
}

// thoughtMarks are the marks around reasoning in the text of models whose server does not separate it.
var thoughtMarks = [][2]string{
	{"<think>", "</think>"},
	{"<thinking>", "</thinking>"},
	{"<thought>", "</thought>"}, // Gemini
	{"[THINK]", "[/THINK]"},
	{"◁think▷", "◁/think▷"},
}

// Marks of the harmony format (gpt-oss).
const (
	harmonyStart = "<|start|>assistant"
	harmonyFinal = "<|channel|>final<|message|>"
)

var (
	harmonyThoughts = []string{"<|channel|>analysis<|message|>", "<|channel|>commentary<|message|>"}
	harmonyEnds     = []string{"<|end|>", "<|return|>", "<|call|>"}
)

// split separates new text into answer and reasoning. What may be the start of a mark waits for the next piece.
func (s *speech) split(fresh string) (out []said) {
	s.pending += fresh
	for s.pending != "" {
		before := len(s.pending)
		switch s.state {
		case atStart:
			if !s.open() {
				return out
			}
		case afterThought:
			if s.pending = strings.TrimLeftFunc(s.pending, unicode.IsSpace); s.pending != "" {
				s.state = inAnswer
			}
		case inThought, inAnswer:
			if len(s.close) == 0 {
				out = append(out, said{s.pending, false})
				s.pending = ""
				continue
			}
			text, rest, closed := cutMark(s.pending, s.close)
			if text != "" {
				out = append(out, said{text, s.state == inThought})
			}
			if s.pending = rest; closed {
				s.closed()
			} else {
				return out
			}
		}
		if len(s.pending) == before && s.state == atStart {
			return out
		}
	}
	return out
}

// open decides what the text at a start is; false: more is needed.
func (s *speech) open() bool {
	text := strings.TrimLeftFunc(s.pending, unicode.IsSpace)
	if text == "" {
		return false
	}
	undecided := false
	try := func(mark string, then func()) bool {
		if rest, ok := strings.CutPrefix(text, mark); ok {
			s.pending = rest
			then()
			return true
		}
		undecided = undecided || strings.HasPrefix(mark, text)
		return false
	}
	if !s.harmony {
		for _, marks := range thoughtMarks {
			if try(marks[0], func() { s.state, s.close = inThought, marks[1:] }) {
				return true
			}
		}
	}
	for _, mark := range harmonyThoughts {
		if try(mark, func() { s.state, s.close, s.harmony = inThought, harmonyEnds, true }) {
			return true
		}
	}
	if try(harmonyFinal, func() { s.state, s.close, s.harmony = inAnswer, harmonyEnds, true }) ||
		try(harmonyStart, func() { s.harmony = true }) {
		return true
	}
	if undecided {
		return false
	}
	s.state, s.close = inAnswer, nil
	return true
}

func (s *speech) closed() {
	s.close = nil
	if s.state = afterThought; s.harmony {
		s.state = atStart
	}
}

// cutMark returns the text before the first of the marks and the rest after it. Without a mark, the rest is what may be
// the start of one.
func cutMark(text string, marks []string) (before, rest string, found bool) {
	at, length := len(text), 0
	for _, mark := range marks {
		if i := strings.Index(text, mark); i >= 0 && i < at {
			at, length, found = i, len(mark), true
		}
	}
	if found {
		return text[:at], text[at+length:], true
	}
	for _, mark := range marks {
		for n := min(len(mark)-1, len(text)); n > 0; n-- {
			if strings.HasSuffix(text, mark[:n]) {
				at = min(at, len(text)-n)
				break
			}
		}
	}
	return text[:at], text[at:], false
}
