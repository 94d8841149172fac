package chunking

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/display"
	"contextinfinity/backend/internal/intent"
)

// summaryRunes bounds the deterministic summary of a chunk; no more than
// summaryBytes of text are read for it.
const (
	summaryRunes = 240
	summaryBytes = summaryRunes * utf8.UTFMax * 2
)

// decisionShare is the least part of what a chunk says, as one in so many bytes,
// that must decide for the chunk to be a decision.
const decisionShare = 8

// describe gives a chunk's type (SRD 5.8) and its summary in a line: the headings
// it is under, then of code what it declares, of a decision the sentence that
// decides, of anything else its first sentences.
func describe(role chat.Role, text string, ps []piece) (chat.ChunkType, string) {
	codeBytes, all, deciding := 0, 0, 0
	said, decisions := sayings{}, sayings{}
	var declared []string
	for _, p := range ps {
		words := strings.TrimSpace(text[p.start:p.end])
		if p.kind != heading {
			all += len(words)
		}
		switch p.kind {
		case code:
			codeBytes += len(words)
			if len(declared) < 20 {
				declared = append(declared, signatures(text[p.start:p.end])...)
			}
		case prose:
			eachSentence(words, func(start, end int, _ border) {
				sentence := strings.TrimSpace(words[start:end])
				said.add(cells(sentence))
				if kind, _ := intent.Of(display.Start(sentence, 2000)); kind == intent.Decision {
					deciding += len(sentence)
					decisions.add(sentence)
				}
			})
		}
	}
	path := *ps[0].path
	if ps[0].kind == heading {
		path = join(path, titleOf(text[ps[0].start:ps[0].end]))
	}
	switch {
	case codeBytes*2 > all:
		if len(declared) > 0 {
			return chat.ChunkCode, summary(path, strings.Join(declared, "; "))
		}
		return chat.ChunkCode, summary(path, said.text+unfenced(firstCode(text, ps)))
	case deciding*decisionShare >= all && deciding > 0:
		return chat.ChunkDecision, summary(path, decisions.text)
	}
	line := summary(path, said.text)
	switch {
	case !strings.ContainsFunc(line, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }):
		return chat.ChunkOther, line
	case role == chat.RoleUser:
		return chat.ChunkUserContext, line
	}
	return chat.ChunkExplanation, line
}

// sayings are the first sentences, as many as a summary can use.
type sayings struct{ text string }

func (s *sayings) add(sentence string) {
	if sentence != "" && len(s.text) <= summaryBytes {
		s.text += display.Start(sentence, summaryBytes) + " "
	}
}

// cells is a row of a table as words; nothing is left of its line of dashes.
func cells(line string) string {
	if !strings.HasPrefix(line, "|") {
		return line
	}
	var out []string
	for cell := range strings.SplitSeq(display.Start(line, summaryBytes), "|") {
		if cell = strings.TrimSpace(cell); strings.Trim(cell, "-:") != "" {
			out = append(out, cell)
		}
	}
	if len(out) == 0 {
		return ""
	}
	return strings.Join(out, ", ") + ";"
}

func firstCode(text string, ps []piece) string {
	for _, p := range ps {
		if p.kind == code {
			return text[p.start:p.end]
		}
	}
	return ""
}

// unfenced is code without the lines of its fence.
func unfenced(code string) string {
	code = display.Start(strings.TrimSpace(code), summaryBytes)
	if fenceOf(code) != "" {
		if _, rest, ok := strings.Cut(code, "\n"); ok {
			return rest
		}
	}
	return code
}

func summary(path, text string) string {
	if path != "" && strings.TrimSpace(text) != "" {
		text = path + ": " + text
	} else {
		text = path + text
	}
	return beginning(text, summaryRunes)
}

func join(path, title string) string {
	if path == "" || title == "" {
		return path + title
	}
	return path + " > " + title
}

// beginning is how a text begins, in a line of at most this many runes, valid
// and cut between words; what is cut off is marked.
func beginning(text string, most int) string {
	// Twice the bytes that the longest runes need: the text itself may be huge.
	head := display.Start(text, most*utf8.UTFMax*2)
	line := strings.Join(strings.Fields(strings.ToValidUTF8(head, "\uFFFD")), " ")
	runes := []rune(line)
	if len(runes) <= most && len(head) == len(text) {
		return line
	}
	runes = runes[:min(len(runes), most-1)]
	cut := len(runes)
	for i := len(runes) - 1; i > most/2; i-- {
		if unicode.IsSpace(runes[i]) {
			cut = i
			break
		}
	}
	return string(runes[:cut]) + "…"
}
