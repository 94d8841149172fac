package retrieval

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"contextinfinity/backend/internal/intent"
	"contextinfinity/backend/internal/lexical"
	"contextinfinity/backend/internal/pattern"
)

// A clause is a part of a user message. It either asks for something, or states something that may answer a later
// question.
type clause struct {
	text string
	asks bool
}

// askingLeads begin clauses that ask for something: questions without a question mark, commands, statements that only
// lead to a request ("I'm trying to ..."), and acknowledgements, which repeat an answer.
var askingLeads = lexical.Phrases(`can you, can we, can i, could you, could i, could we, would you, will you, do you, are you able, please, pls, help me, help us, tell me, show me, give me, give us, write, draft,
	remind me, explain, list, summarize, summarise, describe, compare, suggest, recommend, translate, calculate, convert, generate, find me, walk me through, let's, let me know,
	what, what's, whats, which, who, whose, when, where, why, how, how's, is, are, does, do, did, was, were, should, shall, any idea, any ideas, any tips, any advice, any suggestions,
	i wonder, i'm wondering, i was wondering, i am wondering, wondering, i'm trying to, i am trying to, i want to, i'd like to, i would like to, i need to, i need you, i want you, i need help, i'm looking for,
	i'm having trouble, i'm having some, i'm not sure, i don't know, i'm curious, i'm confused, i forget, i forgot, i mix up, i keep forgetting,
	thanks, thank you, thx, got it, sounds good, that makes sense, makes sense, that clears, perfect, great, cool, nice, sure, yes please, alright, i'll try, i'll make sure, i'll definitely,
	kannst du, können sie, könntest du, könnten sie, bitte, hilf mir, sag mir, zeig mir, gib mir, erklär, erkläre, schreib, schreibe, was, welche, welcher, welches, welchen, wer, wann, wo, warum, wieso, wie, ist,
	sind, soll ich, sollte ich, brauche ich, brauchen wir, gibt es, ich frage mich, ich möchte, ich will, ich versuche, danke, alles klar, verstanden, erinnere mich,
	peux-tu, peux tu, pouvez-vous, pouvez vous, pourrais-tu, pourriez-vous, s'il te plaît, s'il vous plaît, aide-moi, dis-moi, donne-moi, montre-moi, explique, écris, est-ce que, qu'est-ce, que, quel, quelle, quels, quelles,
	qui, quand, où, pourquoi, comment, combien, je me demande, je voudrais, j'aimerais, merci, d'accord,
	puedes, podrías, puede usted, por favor, ayúdame, dime, dame, muéstrame, explica, explícame, escribe, qué, cuál, cuáles, quién, cuándo, dónde, por qué, cómo, cuánto, cuánta, cuántos, cuántas, me pregunto, quiero, quisiera, gracias, de acuerdo,
	você pode, pode me, poderia, ajude-me, me diga, me ajuda, explique, escreva, o que, qual, quais, quem, quando, onde, por que, como, quanto, quantos, obrigado, obrigada,
	puoi, potresti, per favore, aiutami, dimmi, dammi, spiega, spiegami, scrivi, che cosa, cosa, quale, quali, chi, dove, perché, come, grazie, va bene,
	kun je, kunt u, zou je, alsjeblieft, help me, vertel me, geef me, leg uit, schrijf, wat, welke, wie, wanneer, waar, waarom, hoe, bedankt, dank je,
	czy, możesz, proszę, pomóż, powiedz, podaj, napisz, co, jaki, jaka, jakie, który, która, które, kto, kiedy, gdzie, dlaczego, jak, ile, dziękuję, dzięki,
	можешь, можете, не могли бы, пожалуйста, помоги, помогите, скажи, дай, напиши, объясни, что, какой, какая, какие, кто, когда, где, почему, как, сколько, спасибо, чи, можеш, будь ласка, поясни, що, який, яка, які, хто, коли, де, чому, скільки, дякую,
	misin, mısın, lütfen, bana, ne, hangi, kim, nerede, neden, nasıl, kaç, teşekkürler`)

// askingInside are phrases of requests that also occur in the middle of a clause.
var askingInside = lexical.Phrases(`can you, could you, would you, please, help me, tell me, remind me, any tips, any advice, any ideas, any suggestions, wondering if, wondering how, wondering what, what if,
	how can i, how do i, how should i, what should i, should i, do i need, how would i, which one, kannst du, können sie, bitte, peux-tu, pouvez-vous, puedes, por favor, per favore`)

// statingLeads begin clauses that state something after a request in the same sentence.
var statingLeads = lexical.Phrases(`i've, i have, i had, i got, i was, i use, i used, i bought, i chose, i decided, i set, i agreed, i finished, i completed, i managed, i already, i just, i moved, i met, i'm using, i work, i live,
	we've, we have, we had, we use, we are, we're, we decided, we chose, we moved, my name, it's, it is, it was, which is, which are, which was, which has, because, since, considering,
	given that, ich habe, ich hatte, ich bin, ich nutze, ich arbeite, wir haben, wir sind, wir nutzen, weil, j'ai, je suis, nous avons, nous sommes, parce que, tengo, estoy, tenemos, he, hemos, porque,
	tenho, estou, temos, ho, sono, abbiamo, ik heb, ik ben, we hebben, omdat, mam, jestem, mamy, у меня, я, у нас, мы, потому что`)

// fillers may precede the first significant word of a clause.
var fillers = lexical.Phrases(`hmm, hm, so, and, but, ok, okay, oh, ah, also, then, now, well, hi, hey, hello, yes, yeah, no, or, actually, again, just, um, uh, und, aber, also, dann, nun, ja, nein, hallo, oder, et, mais, alors, oui, non, ou, y, pero, entonces, sí, e, ma, allora, mas, então, en, maar, dus, а, и, но, ну, так, да`)

// joins are words before which a new clause may begin.
var joins = lexical.Phrases(`and, but, so, or, because, since, which, und, aber, oder, weil, et, mais, y, pero, porque, ma, mas, maar, omdat, и, но, а`)

// askingUnspaced are words of questions and requests in Chinese, found anywhere.
var askingUnspaced = pattern.New(`什么|什麼|甚麼|谁|誰|哪|怎么|怎麼|怎样|怎樣|为何|為何|多少|几[个点时号岁次]|幾[個點時號歲次]|吗|嗎|呢|何时|何時|如何|是否|请|請|告诉我|告訴我|帮我|幫我`)

// fewestStated is the minimum number of words in a statement without an end mark: fewer are terms to search for.
const fewestStated = 4

// AsksNothing reports whether a message only states something: it neither asks nor consists of terms to search for.
func AsksNothing(text string) bool {
	if strings.ContainsFunc(text, isQuestionMark) || askingUnspaced().MatchString(text) {
		return false
	}
	_, ends := intent.Words(text)
	words, characters := len(ends), 0
	for _, r := range text {
		if lexical.IsUnspaced(r) {
			characters++
		}
	}
	words = max(words, characters/2) // a Chinese word has about two characters
	last, _ := utf8.DecodeLastRuneInString(strings.TrimSpace(text))
	if words < fewestStated && !intent.EndsSentence(last) {
		return false
	}
	return words > 0 && !asksInPlace(text) && !slices.ContainsFunc(clauses(text), func(c clause) bool { return c.asks })
}

var (
	// lastAsking are question words that ask as the last word of a message, before afterAsking: "she lives where again".
	lastAsking  = lexical.Set(`what who whom where when why how wer wen wem wann wo woher wohin warum wieso wie`)
	afterAsking = lexical.Set(`again now exactly nochmal noch mal gleich denn eigentlich genau`)
	// secondAsking ask after what begins a message: "in which city", "remember what".
	beforeAsking = lexical.Set(`remember in on at for from with to about of by under since until an auf mit für von zu bei über aus nach seit bis vor gegen um`)
	secondAsking = lexical.Set(`which whom what wem wen welche welcher welches welchem welchen`)
)

// asksInPlace reports whether a message without a mark is a question by the place of its question word. Elsewhere the same
// words join parts of a statement ("I live where the river ends").
func asksInPlace(text string) bool {
	joined, _ := intent.Words(text)
	words := strings.Fields(joined)
	for len(words) > 2 && afterAsking[words[len(words)-1]] {
		words = words[:len(words)-1]
	}
	if len(words) < 2 {
		return false
	}
	end := strings.Join(words[len(words)-2:], " ")
	return lastAsking[words[len(words)-1]] || end == "how much" || end == "how many" || end == "wie viel" || beforeAsking[words[0]] && secondAsking[words[1]]
}

// clauses splits a message. A clause that begins like neither a request nor a statement has the type of the previous
// one in its sentence.
func clauses(text string) []clause {
	var out []clause
	for len(text) > 0 {
		end, question := sentence(text)
		out = appendClauses(out, text[:end], question)
		text = text[end:]
	}
	return out
}

// sentence returns the end of the first sentence or line of a text, and whether a question mark ends it.
func sentence(text string) (int, bool) {
	for i, r := range text {
		next := i + utf8.RuneLen(r)
		switch {
		case r == '\n':
			return next, false
		case r == utf8.RuneError:
		case intent.EndsSentence(r):
			if after, _ := utf8.DecodeRuneInString(text[next:]); r > unicode.MaxASCII || next == len(text) || unicode.IsSpace(after) {
				return next, isQuestionMark(r)
			}
		}
	}
	return len(text), false
}

func appendClauses(out []clause, text string, question bool) []clause {
	first, stated, asking := len(out), -1, false
	for len(text) > 0 {
		end := clauseEnd(text)
		switch leadOf(text[:end]) {
		case leadAsks:
			asking = true
		case leadStates:
			asking, stated = false, len(out)
		}
		out = append(out, clause{text[:end], asking})
		text = text[end:]
	}
	if question && len(out) > first && !asking { // no clause begins like a question, but the sentence is one
		for i := min(stated+1, len(out)-1); i < len(out); i++ {
			out[max(i, first)].asks = true
		}
	}
	return out
}

// clauseEnd is the end of the first clause of a sentence: at a comma, a dash, or before a word that joins clauses.
func clauseEnd(text string) int {
	word := -1
	for i, r := range text {
		switch {
		case unicode.IsLetter(r) || r == '\'' || r == '’':
			if word < 0 {
				word = i
			}
			continue
		case word > 0 && isJoin(text[word:i]) && strings.TrimSpace(text[:word]) != "":
			return word
		}
		word = -1
		if r == ',' || r == ';' || r == ':' || r == '(' || r == '–' || r == '—' || r == '，' || r == '、' {
			if next := i + utf8.RuneLen(r); next == len(text) || r > unicode.MaxASCII || r == '(' || text[next] == ' ' {
				return next
			}
		}
	}
	return len(text)
}

// longestJoin is the length of the longest word in joins, in bytes.
const longestJoin = 8

func isJoin(word string) bool { return len(word) <= longestJoin && joins[strings.ToLower(word)] }

type lead uint8

const (
	leadNone lead = iota
	leadAsks
	leadStates
)

// leadBytesRead is how much of a clause is read to find its first words.
const leadBytesRead = 240

// leadOf classifies the beginning of a clause.
func leadOf(text string) lead {
	if len(text) > leadBytesRead {
		text = strings.ToValidUTF8(text[:leadBytesRead], "")
	}
	words, ends := intent.Words(text)
	start := 0
	for i := range ends {
		longest := leadNone
		for n := min(i+longestIntentCue, len(ends)) - 1; n >= i && longest == leadNone; n-- {
			switch phrase := words[start:ends[n]]; {
			case statingLeads[phrase]:
				longest = leadStates
			case askingLeads[phrase]:
				longest = leadAsks
			}
		}
		if longest != leadNone {
			return longest
		}
		if !fillers[words[start:ends[i]]] {
			break
		}
		start = ends[i] + 1
	}
	if hasCue(words, ends, askingInside) {
		return leadAsks
	}
	return leadNone
}
