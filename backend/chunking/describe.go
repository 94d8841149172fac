package chunking

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/display"
	"contextinfinity/backend/internal/intent"
)

// summaryRunes limits the deterministic summary of a chunk; at most summaryBytes of text are read for it.
const (
	summaryRunes = 240
	summaryBytes = summaryRunes * utf8.UTFMax * 2
)

// decisionShare: if at least one in this many bytes of a chunk belongs to a decision, the chunk is of type decision.
const decisionShare = 8

// describe returns a chunk's type (SRD 5.8) and its summary in one line: its headings, then for code its
// declarations, for a decision the deciding sentence, otherwise its first sentences.
func describe(role chat.Role, text string, ps []piece) (chat.ChunkType, string) {
	codeBytes, all, deciding := 0, 0, 0
	sentences, decisions := firstSentences{}, firstSentences{}
	var declared []string
	for _, p := range ps {
		content := strings.TrimSpace(text[p.start:p.end])
		if p.kind != heading {
			all += len(content)
		}
		switch p.kind {
		case code:
			codeBytes += len(content)
			if len(declared) < 20 {
				declared = append(declared, signatures(text[p.start:p.end])...)
			}
		case prose:
			eachSentence(content, func(start, end int, _ border) {
				sentence := strings.TrimSpace(content[start:end])
				sentences.add(cells(sentence))
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
		return chat.ChunkCode, summary(path, sentences.text+unfenced(firstCode(text, ps)))
	case deciding*decisionShare >= all && deciding > 0:
		return chat.ChunkDecision, summary(path, decisions.text)
	}
	line := summary(path, sentences.text)
	switch {
	case !strings.ContainsFunc(line, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }):
		return chat.ChunkOther, line
	case role == chat.RoleUser:
		return chat.ChunkUserContext, line
	}
	return chat.ChunkExplanation, line
}

// firstSentences collects as many sentences as a summary can use.
type firstSentences struct{ text string }

func (s *firstSentences) add(sentence string) {
	if sentence != "" && len(s.text) <= summaryBytes {
		s.text += display.Start(sentence, summaryBytes) + " "
	}
}

// cells is a table row as words; empty for the line of dashes.
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

// unfenced is code without its fence lines.
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

// beginning is the beginning of a text, in one valid line of at most this many characters, cut between words and
// marked if cut.
func beginning(text string, maxRunes int) string {
	// At most twice the bytes of the longest characters are read, because the text may be huge.
	head := display.Start(text, maxRunes*utf8.UTFMax*2)
	line := strings.Join(strings.Fields(strings.ToValidUTF8(head, "\uFFFD")), " ")
	runes := []rune(line)
	if len(runes) <= maxRunes && len(head) == len(text) {
		return line
	}
	runes = runes[:min(len(runes), maxRunes-1)]
	cut := len(runes)
	for i := len(runes) - 1; i > maxRunes/2; i-- {
		if unicode.IsSpace(runes[i]) {
			cut = i
			break
		}
	}
	return string(runes[:cut]) + "…"
}
