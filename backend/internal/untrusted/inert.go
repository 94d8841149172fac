package untrusted

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"contextinfinity/backend/internal/lexical"
	"contextinfinity/backend/internal/pattern"

	"golang.org/x/text/unicode/norm"
)

// Document prepares a visible text for the frame of a document. Only tags of the program's frames, in any disguise,
// and control tokens are escaped, because code and tables must stay readable. Document(Document(s)) is Document(s).
func Document(visible string) string {
	if !strings.ContainsFunc(visible, opens) {
		return visible
	}
	var b strings.Builder
	b.Grow(len(visible) + 16)
	for i := 0; i < len(visible); {
		r, size := utf8.DecodeRuneInString(visible[i:])
		rest := visible[i+size:]
		switch {
		case opensTag(r) && (isFrame(rest) || isAngleToken(rest)), opensQuote(r) && closesFrame(rest):
			b.WriteString("&lt;")
		case r == ']' && minimax().MatchString(rest):
			b.WriteString("&#93;")
		case opensBracket(r):
			if body, after := bracketToken(rest); after > 0 {
				b.WriteString("&#91;" + body + "&#93;")
				size += after
				break
			}
			fallthrough
		default:
			b.WriteString(visible[i : i+size])
		}
		i += size
	}
	return b.String()
}

// Memory prepares a visible text for the memory block: without any tag, and without lines that imitate the program's.
// An & is escaped only where it could be taken for an escape, because code is quoted often and each escape costs
// tokens. The text can be restored unambiguously; a second pass would escape the escapes.
func Memory(visible string) string { return quoteForged(allTags(visible)) }

// Passage is Memory for a text with a first line written by the program.
func Passage(visible string) string {
	first, rest, more := strings.Cut(visible, "\n")
	if !more {
		return allTags(first)
	}
	return allTags(first) + "\n" + Memory(rest)
}

func allTags(visible string) string { return Document(tagEscaper.Replace(visible)) }

var tagEscaper = strings.NewReplacer("<", "&lt;", "&lt;", "&amp;lt;", "&amp;", "&amp;amp;", "&#91;", "&amp;#91;", "&#93;", "&amp;#93;")

// forged finds lines that look like the program's speaker lines and headings.
var forged = pattern.New(`(?mi)^[\s\pZ]*(?:[#＃﹟♯№][\s\pZ]*\pN{1,9}\.?(?:[\s\pZ]+\d{1,2}` + colon + `\d{2})?[\s\pZ]+[^\n:：]{1,100}?` + colon + `|` +
	`[\[［【〔⟦][\s\pZ]*(?:now[\s\pZ]*(?:` + colon + `|[-–—])|selected[\s\pZ]+passages|earlier[\s\pZ]+conversation[\s\pZ]+summary|` +
	`(?:\pL+[,，]?[\s\pZ]+)?\d{1,2}\.?[\s\pZ]+\pL+[\s\pZ]+\d{4}\b))`)

// colon matches a colon and characters that look like one.
const colon = `[:：﹕︓∶꞉]`

// quoteForged marks the lines that forged finds as quoted.
func quoteForged(s string) string {
	return forged().ReplaceAllStringFunc(s, func(line string) string {
		at := strings.LastIndex(line[:len(line)-len(strings.TrimLeftFunc(line, unicode.IsSpace))], "\n") + 1
		return line[:at] + "> " + line[at:]
	})
}

func opens(r rune) bool { return opensTag(r) || opensBracket(r) || opensQuote(r) || r == ']' }

// minimax are the ends of MiniMax's control tokens that begin with a bracket: ]~b], ]~!b[ and ]<]minimax[>[.
var minimax = pattern.New(`^(?:~!?b[\]\[]|<\]minimax\[>)`)

// opensQuote reports whether a character looks like < but is a quotation mark in some languages, as in 《document》.
// Followed by a slash it is not one.
func opensQuote(r rune) bool { return r == '«' || r == '《' }

func closesFrame(rest string) bool {
	r, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(rest, unicode.IsSpace))
	return isSlash(r) && isFrame(rest)
}

func opensBracket(r rune) bool { return r == '[' || r == '［' }

// opensTag reports whether a character is <, looks like it or is normalized to it.
func opensTag(r rune) bool {
	return r == '<' || r > 0x7F && strings.ContainsRune("＜﹤≮˂ᐸ‹〈⟨〈❮❬⦉⟪⦑⪪⧼⋖⪡≺⊰ᑅ⧀⩹⪦", r)
}

// frames are the tag names of the program's frames.
var frames = map[string]bool{"document": true, "memory": true, "artifact": true, "state_summary": true, "turns": true, "tool_output": true, "statesummary": true, "tooloutput": true}

const longestFrame = len("state_summary")

// isFrame reports whether the text after a < is the rest of a frame's tag, however it is spelled: with slashes, spaces
// or marks in it, in letters of any width or case, or in look-alike letters of other alphabets.
func isFrame(s string) bool {
	var name strings.Builder
	for _, r := range s {
		for _, c := range fold(r) {
			if frames[name.String()] && !isNamePart(c) || name.String() == "m" && c == '>' {
				return true
			}
			if c == '-' {
				c = '_'
			}
			if c == ':' { // after a namespace
				name.Reset()
			} else if isNamePart(c) {
				name.WriteRune(c)
			} else if !unicode.IsSpace(c) && !isSlash(c) && c != utf8.RuneError { // U+FFFD: Visible's replacement for a control character
				return false
			}
		}
		if name.Len() > longestFrame {
			return false
		}
	}
	return frames[name.String()]
}

func isNamePart(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

func isSlash(r rune) bool { return strings.ContainsRune(`/\⁄∕⧸⧵∖÷╱⟋⫽⧹╲⟍`, r) }

// fold returns a character in its simplest form: a Latin letter without width, case and marks.
func fold(r rune) []rune {
	if r < utf8.RuneSelf {
		return []rune{unicode.ToLower(r)}
	}
	if isHidden(r) {
		return nil
	}
	for _, first := range []rune{'🅐', '🅰', '🇦'} { // pictographic letters
		if r >= first && r < first+26 {
			return []rune{'a' + r - first}
		}
	}
	var out []rune
	for _, c := range norm.NFKD.String(string(r)) {
		c = unicode.ToLower(c)
		if latin, ok := lookalikes[c]; ok {
			c = latin
		}
		if !unicode.Is(unicode.M, c) {
			out = append(out, c)
		}
	}
	return out
}

// lookalikes are letters of other alphabets that look like those of the frames.
var lookalikes = map[rune]rune{
	'а': 'a', 'с': 'c', 'ԁ': 'd', 'е': 'e', 'і': 'i', 'м': 'm', 'о': 'o', 'р': 'p', 'г': 'r', 'ѕ': 's', 'т': 't', 'у': 'y', 'п': 'n',
	'α': 'a', 'ϲ': 'c', 'ε': 'e', 'ι': 'i', 'μ': 'm', 'ο': 'o', 'τ': 't', 'υ': 'u', 'γ': 'y', 'ν': 'n', 'ı': 'i', 'ɑ': 'a', 'ո': 'n', 'օ': 'o', 'ѵ': 'v',
	'ς': 'c', 'ө': 'o', 'ս': 'u', 'đ': 'd', 'ð': 'd', 'ⲟ': 'o', 'ⲥ': 'c', 'ⲣ': 'p', 'ⲙ': 'm', 'ⲏ': 'n', 'ⲧ': 't', 'ⲩ': 'y', 'ⲉ': 'e', 'ⲁ': 'a', 'ø': 'o', 'ɵ': 'o', 'ŧ': 't', 'ħ': 'h',
	'ꓮ': 'a', 'ꓚ': 'c', 'ꓓ': 'd', 'ꓰ': 'e', 'ꓝ': 'f', 'ꓲ': 'i', 'ꓟ': 'm', 'ꓠ': 'n', 'ꓳ': 'o', 'ꓑ': 'p', 'ꓣ': 'r', 'ꓢ': 's', 'ꓔ': 't', 'ꓴ': 'u', 'ꓬ': 'y',
	'ꭺ': 'a', 'ꮯ': 'c', 'ꭰ': 'd', 'ꭼ': 'e', 'ꮇ': 'm', 'ꮑ': 'n', 'ꭴ': 'o', 'ꮲ': 'p', 'ꮢ': 'r', 'ꮪ': 's', 'ꭲ': 't', 'ꮜ': 'u', 'ꮍ': 'y', 'ꮏ': 'n',
	'ᴀ': 'a', 'ᴄ': 'c', 'ᴅ': 'd', 'ᴇ': 'e', 'ꜰ': 'f', 'ɪ': 'i', 'ᴍ': 'm', 'ɴ': 'n', 'ᴏ': 'o', 'ᴘ': 'p', 'ʀ': 'r', 'ꜱ': 's', 'ᴛ': 't', 'ᴜ': 'u', 'ʏ': 'y',
	'›': '>', '〉': '>', '⟩': '>', '❯': '>', '❭': '>', '⦊': '>', 'ᐳ': '>', '｜': '|', '￨': '|', '│': '|', '¦': '|', 'ǀ': '|', '∣': '|', '❘': '|',
}

// tokenLength is how far the end of a control token is searched for, in bytes.
const tokenLength = 64

// isAngleToken reports whether the text after a < is the rest of a control token: <|…|>, the one-sided <|… > and <…|>,
// <<SYS>>, <start_of_turn>, <s> and the like.
func isAngleToken(s string) bool {
	body, _, _ := tokenBody(s, '>', '<')
	return pipedBody().MatchString(body) || angleTokens().MatchString(body)
}

var (
	// pipedBody has no spaces if it has only one bar: a <| b -> c is an operator. It has no &, which would begin an
	// escape.
	pipedBody   = pattern.New(`^/?(?:\|[^|&]+\||\|[^\s|&]+|[^\s|&]+\|)$`)
	angleTokens = pattern.New(`^<?/?(?:s|bos|eos|eod|pad|unk|mask|sep|cls|sop|eop|sys|(?:\w+:)?(?:think|tool_calls?)|tools?|tool_response|tool_sep|function_calls|` +
		`function=[^&]*|function_results|invoke name=[^&]*|(?:tokens_)?unused(?:_token)?_?\d+|extra_id_\d+|ctrl\d+|0x[0-9a-f]{2}|eot|longcat_\w+|tool_code|reserved_[^&]*|(?:start|end|begin)_of_\w+|image_soft_token|fim_\w+|im_start|im_end)$`)
)

// bracketToken returns the body of a control token in brackets, after its [, and its length with the ]; 0 if there is
// none.
func bracketToken(s string) (body string, length int) {
	folded, end, length := tokenBody(s, ']', '[')
	name := strings.Trim(strings.Join(strings.Fields(folded), ""), "/\\")
	if pipedInBrackets().MatchString(name) || unusedInBrackets().MatchString(name) { // EXAONE: [|user|]; BERT and InternLM
		return s[:end], length
	}
	if !bracketTokens[name] || usual[name] && strings.ContainsFunc(s[:end], unicode.IsLower) {
		return "", 0
	}
	return s[:end], length
}

var (
	pipedInBrackets  = pattern.New(`^\|\w+\|$`)
	unusedInBrackets = pattern.New(`^unused(_token)?_?\d+$`)
)

var bracketTokens = lexical.Set("inst sys system_prompt available_tools tool_calls tool_results tool_content think args call_id gmask smask mask sop eop " +
	"img img_break img_end audio begin_audio prefix middle suffix model_settings bos eos pad unk cls sep")

// usual are words that ordinary text contains in brackets in lower case. As control tokens they are in capitals.
var usual = lexical.Set("think args mask img audio prefix middle suffix pad sep")

// tokenBody returns the folded text before the closing character, and where that character begins and ends. The text is
// empty if that character is far away, on another line, or after the beginning of another token.
func tokenBody(s string, closing, opening rune) (body string, start, end int) {
	var b strings.Builder
	for i, r := range s {
		if i > tokenLength || r == '\n' {
			break
		}
		for _, c := range fold(r) {
			if c == closing {
				return b.String(), i, i + utf8.RuneLen(r)
			}
			if c == opening && b.Len() > 0 {
				return "", 0, 0
			}
			b.WriteRune(c)
		}
	}
	return "", 0, 0
}
