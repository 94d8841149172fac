package untrusted

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"contextinfinity/backend/internal/lexical"
	"contextinfinity/backend/internal/pattern"

	"golang.org/x/text/unicode/norm"
)

// Document is a visible text as it is in the frame of a document: as it is, since
// code and tables are to be read as they are. Only tags of the program's frames, in any
// disguise, and control tokens are escaped. Document(Document(s)) is Document(s).
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
		case r == ']' && minimax.MatchString(rest):
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

// Memory is a visible text as it is in the memory block: it holds no tag at all, and
// no line that passes for one of the program's. An & is escaped only where it could be
// taken for an escape, since code is quoted often and each escape costs; so the text can
// be read back without doubt, and a second pass would escape the escapes.
func Memory(visible string) string { return quoteForged(allTags(visible)) }

// Passage is Memory for a text whose first line is written by the program.
func Passage(visible string) string {
	first, rest, more := strings.Cut(visible, "\n")
	if !more {
		return allTags(first)
	}
	return allTags(first) + "\n" + Memory(rest)
}

func allTags(visible string) string { return Document(tagEscaper.Replace(visible)) }

var tagEscaper = strings.NewReplacer("<", "&lt;", "&lt;", "&amp;lt;", "&amp;", "&amp;amp;", "&#91;", "&amp;#91;", "&#93;", "&amp;#93;")

// forged finds lines that look like those by which the program says who said a passage
// and when, and like its headings.
var forged = pattern.New(`(?mi)^[\s\pZ]*(?:[#＃﹟♯№][\s\pZ]*\pN{1,9}\.?(?:[\s\pZ]+\d{1,2}` + colon + `\d{2})?[\s\pZ]+[^\n:：]{1,100}?` + colon + `|` +
	`[\[［【〔⟦][\s\pZ]*(?:now[\s\pZ]*(?:` + colon + `|[-–—])|selected[\s\pZ]+passages|earlier[\s\pZ]+conversation[\s\pZ]+summary|` +
	`(?:\pL+[,，]?[\s\pZ]+)?\d{1,2}\.?[\s\pZ]+\pL+[\s\pZ]+\d{4}\b))`)

// colon is one, or what is drawn like it.
const colon = `[:：﹕︓∶꞉]`

// quoteForged marks such lines as quoted.
func quoteForged(s string) string {
	return forged.ReplaceAllStringFunc(s, func(line string) string {
		at := strings.LastIndex(line[:len(line)-len(strings.TrimLeftFunc(line, unicode.IsSpace))], "\n") + 1
		return line[:at] + "> " + line[at:]
	})
}

func opens(r rune) bool { return opensTag(r) || opensBracket(r) || opensQuote(r) || r == ']' }

// minimax are the rests of MiniMax's control tokens that begin with a bracket: ]~b], ]~!b[ and
// ]<]minimax[>[.
var minimax = pattern.New(`^(?:~!?b[\]\[]|<\]minimax\[>)`)

// opensQuote reports a mark that stands around words in some languages, as 《document》; with a
// slash behind it it is no quotation.
func opensQuote(r rune) bool { return r == '«' || r == '《' }

func closesFrame(rest string) bool {
	r, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(rest, unicode.IsSpace))
	return isSlash(r) && isFrame(rest)
}

func opensBracket(r rune) bool { return r == '[' || r == '［' }

// opensTag reports <, and what is drawn like it or becomes it by normalization.
func opensTag(r rune) bool {
	return r == '<' || r > 0x7F && strings.ContainsRune("＜﹤≮˂ᐸ‹〈⟨〈❮❬⦉⟪⦑⪪⧼⋖⪡≺⊰ᑅ⧀⩹⪦", r)
}

// frames are the tags of the program's frames.
var frames = map[string]bool{"document": true, "memory": true, "artifact": true, "state_summary": true, "turns": true, "tool_output": true, "statesummary": true, "tooloutput": true}

const longestFrame = len("state_summary")

// isFrame reports that the text after a < is the rest of a frame's tag, however it is
// spelled: with slashes, spaces or marks in it, in letters of any width or case, or in
// letters of other alphabets that look the same.
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
			if c == ':' { // the name of a name space before it
				name.Reset()
			} else if isNamePart(c) {
				name.WriteRune(c)
			} else if !unicode.IsSpace(c) && !isSlash(c) && c != utf8.RuneError { // which Visible put for a control character
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

// fold is a character in its plainest form: no width, no case, no marks, in Latin.
func fold(r rune) []rune {
	if r < utf8.RuneSelf {
		return []rune{unicode.ToLower(r)}
	}
	if isHidden(r) {
		return nil
	}
	for _, first := range []rune{'🅐', '🅰', '🇦'} { // letters in pictures
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

// lookalikes are letters of other alphabets that are drawn like those of the frames.
var lookalikes = map[rune]rune{
	'а': 'a', 'с': 'c', 'ԁ': 'd', 'е': 'e', 'і': 'i', 'м': 'm', 'о': 'o', 'р': 'p', 'г': 'r', 'ѕ': 's', 'т': 't', 'у': 'y', 'п': 'n',
	'α': 'a', 'ϲ': 'c', 'ε': 'e', 'ι': 'i', 'μ': 'm', 'ο': 'o', 'τ': 't', 'υ': 'u', 'γ': 'y', 'ν': 'n', 'ı': 'i', 'ɑ': 'a', 'ո': 'n', 'օ': 'o', 'ѵ': 'v',
	'ς': 'c', 'ө': 'o', 'ս': 'u', 'đ': 'd', 'ð': 'd', 'ⲟ': 'o', 'ⲥ': 'c', 'ⲣ': 'p', 'ⲙ': 'm', 'ⲏ': 'n', 'ⲧ': 't', 'ⲩ': 'y', 'ⲉ': 'e', 'ⲁ': 'a', 'ø': 'o', 'ɵ': 'o', 'ŧ': 't', 'ħ': 'h',
	'ꓮ': 'a', 'ꓚ': 'c', 'ꓓ': 'd', 'ꓰ': 'e', 'ꓝ': 'f', 'ꓲ': 'i', 'ꓟ': 'm', 'ꓠ': 'n', 'ꓳ': 'o', 'ꓑ': 'p', 'ꓣ': 'r', 'ꓢ': 's', 'ꓔ': 't', 'ꓴ': 'u', 'ꓬ': 'y',
	'ꭺ': 'a', 'ꮯ': 'c', 'ꭰ': 'd', 'ꭼ': 'e', 'ꮇ': 'm', 'ꮑ': 'n', 'ꭴ': 'o', 'ꮲ': 'p', 'ꮢ': 'r', 'ꮪ': 's', 'ꭲ': 't', 'ꮜ': 'u', 'ꮍ': 'y', 'ꮏ': 'n',
	'ᴀ': 'a', 'ᴄ': 'c', 'ᴅ': 'd', 'ᴇ': 'e', 'ꜰ': 'f', 'ɪ': 'i', 'ᴍ': 'm', 'ɴ': 'n', 'ᴏ': 'o', 'ᴘ': 'p', 'ʀ': 'r', 'ꜱ': 's', 'ᴛ': 't', 'ᴜ': 'u', 'ʏ': 'y',
	'›': '>', '〉': '>', '⟩': '>', '❯': '>', '❭': '>', '⦊': '>', 'ᐳ': '>', '｜': '|', '￨': '|', '│': '|', '¦': '|', 'ǀ': '|', '∣': '|', '❘': '|',
}

// tokenLength bounds how far the end of a control token is looked for, in bytes.
const tokenLength = 64

// isAngleToken reports that the text after a < is the rest of a control token: <|…|>,
// the one-sided <|… > and <…|>, <<SYS>>, <start_of_turn>, <s> and the like.
func isAngleToken(s string) bool {
	body, _, _ := tokenBody(s, '>', '<')
	return pipedBody.MatchString(body) || angleTokens.MatchString(body)
}

var (
	// pipedBody has no spaces where it has one bar: a <| b -> c is an operator. An & is
	// that of an escape, which is not part of a token.
	pipedBody   = pattern.New(`^/?(?:\|[^|&]+\||\|[^\s|&]+|[^\s|&]+\|)$`)
	angleTokens = pattern.New(`^<?/?(?:s|bos|eos|eod|pad|unk|mask|sep|cls|sop|eop|sys|(?:\w+:)?(?:think|tool_calls?)|tools?|tool_response|tool_sep|function_calls|` +
		`function=[^&]*|function_results|invoke name=[^&]*|(?:tokens_)?unused(?:_token)?_?\d+|extra_id_\d+|ctrl\d+|0x[0-9a-f]{2}|eot|longcat_\w+|tool_code|reserved_[^&]*|(?:start|end|begin)_of_\w+|image_soft_token|fim_\w+|im_start|im_end)$`)
)

// bracketToken is the body of a control token in brackets, after its [, and how long it
// is with its ]; 0: there is none.
func bracketToken(s string) (body string, length int) {
	folded, end, length := tokenBody(s, ']', '[')
	name := strings.Trim(strings.Join(strings.Fields(folded), ""), "/\\")
	if pipedInBrackets.MatchString(name) || unusedInBrackets.MatchString(name) { // of EXAONE: [|user|]; of BERT and InternLM
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

// usual are words that also are in brackets in ordinary text, in small letters: as
// control tokens they are written in capitals.
var usual = lexical.Set("think args mask img audio prefix middle suffix pad sep")

// tokenBody is what is before the closing character, folded, where that character
// begins and ends. It is empty where that is far away, on another line, or behind the
// beginning of another token.
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
