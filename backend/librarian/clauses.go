package librarian

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"contextinfinity/backend/internal/intent"
	"contextinfinity/backend/internal/lexical"
	"contextinfinity/backend/internal/pattern"
)

// requestMark begins an entry for a request with details worth keeping.
const requestMark = "Asked: "

// requestStarts begin a clause that asks for something.
var requestStarts = phrases(`can you|could you|would you|will you|can i|could i|can we|could we|may i|help me|how do|how can|how should|how would|how to|how does
	how is|how are|how did|how about|how could|what is|what are|what should|what would|what can|what could|what do|what does|what if|what about|what's|what kind|what other
	what steps|which one|is it|is there|is this|is that|are there|are these|do you|does it|does this|should i|should we|am i|i was wondering|i'm wondering|i am wondering
	any idea|any ideas|any advice|any suggestions|any tips|let me know|tell me|i need help|i'd appreciate|please help|provide|explain|show me|give me|suggest|describe|summarize|summarise|review
	i'm not sure|i am not sure|i don't know|i do not know|what do you|do you think
	kannst du|könntest du|können sie|könnten sie|würdest du|würden sie|hilf mir|bitte hilf|wie kann|wie mache|wie soll|wie würde|wie geht|was ist|was soll|gibt es|hast du|ich weiß nicht|ich frage mich
	peux-tu|pouvez-vous|pourrais-tu|pourriez-vous|peut-on|aide-moi|aidez-moi|comment|est-ce que|qu'est-ce|je ne sais pas
	puedes|podrías|puede usted|podría|ayúdame|cómo|qué|no sé
	você pode|pode me|como posso|puoi|potresti|come posso|kun je|kunt u|hoe kan|możesz|czy możesz|jak|можешь|можете|как|помоги`)

// unspacedRequests are such phrases in languages without spaces between words.
var unspacedRequests = []string{"你能", "您能", "你可以", "能不能", "能否", "可以帮我", "请帮我", "请问", "帮我", "怎么", "如何", "为什么", "教えて", "どうやって", "どうすれば", "어떻게", "도와"}

// resumingWords begin a clause that states something again after a request.
var resumingWords = lexical.Set(`since because given considering as whereas although though while weil da denn wobei parce puisque porque ya потому`)

// introductions begin a clause that only announces what follows.
var introductions = phrases("here's|here is|here are|this is|these are|below is|see below|as follows|hier ist|hier sind|voici|aquí está|aquí están")

// longestStart is the maximum number of words in a phrase of the tables above.
const longestStart = 3

// phrases returns a table's phrases, in the form of intent.Words.
func phrases(table string) map[string]bool {
	set := map[string]bool{}
	for line := range strings.Lines(table) {
		for phrase := range strings.SplitSeq(strings.TrimSpace(line), "|") {
			words, _ := intent.Words(phrase)
			set[words] = true
		}
	}
	return set
}

// startsWith reports whether a text of lower case words begins with one of the phrases.
func startsWith(words string, set map[string]bool) bool {
	for end, n := 0, 0; n < longestStart && end < len(words); n++ {
		if next := strings.IndexByte(words[end:], ' '); next >= 0 {
			end += next
		} else {
			end = len(words)
		}
		if set[words[:end]] {
			return true
		}
		end++
	}
	return false
}

// clause is a part of a sentence with the punctuation after it.
type clause struct{ text string }

// clausesOf splits a sentence after its commas, semicolons, colons and dashes if a space follows, and after those of
// scripts without spaces.
func clausesOf(s string) []clause {
	var out []clause
	start := 0
	for i, r := range s {
		next := i + utf8.RuneLen(r)
		if r == utf8.RuneError || next >= len(s) {
			continue
		}
		wide := strings.ContainsRune("，；、：", r)
		narrow := strings.ContainsRune(",;:", r) && s[next] == ' ' || (r == '—' || r == '–') && s[next] == ' '
		if wide || narrow {
			out = append(out, clause{s[start:next]})
			start = next
		}
	}
	return append(out, clause{s[start:]})
}

// leadingWords is a clause's beginning in lower case, without the words that join it to the previous one.
func (c clause) leadingWords() string {
	words, _ := intent.Words(c.text[:clipAt(c.text, 80)])
	for {
		first, rest, ok := strings.Cut(words, " ")
		if !ok || !joiningWords[first] {
			return words
		}
		words = rest
	}
}

var joiningWords = lexical.Set("and but so or also then please now well just oh hmm und aber also oder bitte et mais y pero e ma и но")

func (c clause) isRequest() bool {
	if startsWith(c.leadingWords(), requestStarts) {
		return true
	}
	if strings.ContainsFunc(c.text, lexical.IsUnspaced) {
		text := strings.TrimLeftFunc(c.text, unicode.IsSpace)
		for _, start := range unspacedRequests {
			if strings.HasPrefix(text, start) {
				return true
			}
		}
	}
	return false
}

// introduces reports whether a clause only introduces what follows: "here's what I have so far:".
func (c clause) introduces() bool {
	return strings.HasSuffix(c.text, ":") && startsWith(c.leadingWords(), introductions)
}

// states reports whether a clause after a request states something again.
func (c clause) states() bool {
	first, _, _ := strings.Cut(c.leadingWords(), " ")
	return (firstPerson[first] || resumingWords[first]) && !c.isRequest()
}

// withoutRequests splits a sentence into what it states and what it asks for. People do both in one sentence: "I'm
// building a shop with Go 1.24, can you help me structure it?"
func withoutRequests(s string) (stated, asked string) {
	var statements, questions strings.Builder
	asking := false
	for i, c := range clausesOf(s) {
		switch {
		case c.introduces():
			continue
		case c.isRequest():
			asking = true
		case i > 0 && asking && c.states():
			asking = false
		}
		if asking {
			questions.WriteString(c.text)
		} else {
			statements.WriteString(c.text)
		}
	}
	stated = strings.TrimRight(strings.TrimSpace(statements.String()), ",;:，；：—–- ")
	if trimmed := strings.TrimSpace(s); strings.TrimSpace(statements.String()) == trimmed {
		stated = trimmed
	}
	return stated, request(questions.String())
}

// politeness begins a request and is not part of it.
var politeness = pattern.New(`(?i)^(?:(?:and|but|so|also|please|hmm),? )*(?:can|could|would|will) you (?:please )?(?:also )?(?:help me (?:to |with )?)?`)

// request returns what a request asks for, without polite phrases.
func request(s string) string {
	s = strings.TrimSpace(politeness().ReplaceAllString(strings.TrimSpace(s), ""))
	return withoutJoin(strings.TrimRight(s, ",;:?，；：？ "))
}

// withoutLead is a sentence without an introduction such as "Sure, here are".
func withoutLead(s string) string {
	s = withoutLeadIn(s)
	for _, words := range []string{"sure, ", "yes, ", "here are ", "here is ", "here's ", "these are ", "hier sind ", "voici ", "aquí están "} {
		if len(s) > len(words) && strings.EqualFold(s[:len(words)], words) {
			s = s[len(words):]
		}
	}
	return s
}

// divide splits a text longer than limit bytes: between sentences, otherwise between clauses, otherwise between
// words, so that nothing is lost.
func divide(text string, limit int) []string {
	var out []string
	rest := strings.TrimSpace(text)
	for len(rest) > limit {
		cut := clipAt(rest, limit)
		head := rest[:cut]
		switch {
		case lastSentence(head) > limit/3:
			cut = lastSentence(head)
		case lastStatement(head) > limit/3:
			cut = lastStatement(head)
		case lastClause(head) > limit/3:
			cut = lastClause(head)
		case lastSubordinate(head) > limit/3:
			cut = lastSubordinate(head)
		case strings.LastIndexByte(head, ' ') > limit/2:
			cut = strings.LastIndexByte(head, ' ')
		}
		out = append(out, strings.TrimSpace(rest[:cut]))
		rest = strings.TrimSpace(rest[cut:])
	}
	if rest != "" {
		out = append(out, rest)
	}
	return out
}

// lines splits a text like divide and removes joining words, so that each part is a complete line.
func lines(text string, limit int) []string {
	parts := divide(text, limit)
	for i := range parts {
		if i+1 < len(parts) {
			parts[i] = withoutComma(parts[i])
		}
		if i > 0 {
			parts[i] = withoutJoin(parts[i])
		}
	}
	return parts
}

// withoutJoin is a part of a sentence without a comma and the one word that join it to the part before.
func withoutJoin(s string) string {
	s = strings.TrimLeft(s, ",;:，；：、—– ")
	if first, rest, ok := strings.Cut(s, " "); ok && joiningWords[strings.ToLower(first)] {
		return strings.TrimSpace(rest)
	}
	return s
}

// clipAt is the last position within n bytes that is between two characters.
func clipAt(s string, n int) int {
	if len(s) <= n {
		return len(s)
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return n
}

// lastSentence is the end of the last complete sentence of a text, 0 if there is none.
func lastSentence(s string) int {
	end := 0
	s = strings.TrimRightFunc(s, unicode.IsSpace) // the sentence that is cut off ends at the end of the text
	for span := range intent.Sentences(s, intent.Span{End: len(s)}) {
		if span.End < len(s) {
			end = span.End
		}
	}
	return end
}

func lastClause(s string) int {
	all := clausesOf(s)
	return len(s) - len(all[len(all)-1].text)
}

// statementStart matches the beginning of an independent clause: "… and I have booked a room".
var statementStart = pattern.New(`(?i)(?:,|;|:| —| –)?(?: (?:and|but|so|because|since|while|although|though|considering|which|und|aber|weil|mais|et|parce que|pero|y|porque|ma|e|mas))? (?:i|i'm|i’m|i've|i’ve|i'll|i’ll|i'd|i’d|my|we|we're|we’re|we've|we’ve|we'll|our|ich|wir|je|nous|yo|nosotros|eu|io|noi) `)

// subordinate matches the beginning of a clause that can be dropped safely.
var subordinate = pattern.New(`(?i) (?:and|but|so that|because|since|while|although|though|considering|which|especially|und|aber|weil|während|mais|parce que|pero|porque) `)

// lastStatement is the beginning of the last independent clause of a text, 0 if there is none.
func lastStatement(s string) int {
	end := 0
	for _, m := range statementStart().FindAllStringIndex(s, -1) {
		if lead := strings.TrimLeft(s[m[0]:m[1]], " "); m[0] > 0 && strings.Count(strings.TrimSpace(lead), " ") >= 1 || m[0] > 0 && s[m[0]] != ' ' {
			end = m[0]
		}
	}
	return end
}

// lastSubordinate is the beginning of the last clause of a text that can be dropped safely, 0 if there is none.
func lastSubordinate(s string) int {
	all := subordinate().FindAllStringIndex(s, -1)
	if len(all) == 0 {
		return 0
	}
	return all[len(all)-1][0]
}

// withoutComma is a part of a sentence without the punctuation and the conjunction at its end.
func withoutComma(s string) string {
	s = strings.TrimRight(strings.TrimSpace(s), ",;:，；：、—– ")
	at := strings.LastIndexByte(s, ' ')
	if at > 0 && joiningWords[strings.ToLower(s[at+1:])] {
		s = strings.TrimRight(s[:at], ",; ")
	}
	return s
}

// clipClause is the beginning of a text of at most n bytes that ends with a sentence or a clause,
// "" if none does.
func clipClause(s string, n int) string {
	if len(s) <= n {
		return s
	}
	head := s[:clipAt(s, n)]
	for _, end := range []int{lastSentence(head), lastStatement(head), lastClause(head), lastSubordinate(head)} {
		if end > n/3 {
			return withoutComma(head[:end])
		}
	}
	return ""
}

// clipLine is clipClause; a text without clauses is cut and gets an ellipsis.
func clipLine(s string, n int) string {
	if clipped := clipClause(s, n); clipped != "" {
		return clipped
	}
	return clip(s, n)
}
