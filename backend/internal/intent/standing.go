package intent

import (
	"strings"
	"unicode"

	"contextinfinity/backend/internal/lexical"
	"contextinfinity/backend/internal/pattern"
)

// maxInstruction is the maximum length of a standing instruction, in bytes: a longer text only happens to contain
// such words.
const maxInstruction = 600

// StandingInstructions finds the sentences of a user's message that ask for something permanently, whatever the topic
// ("always", "never", "from now on", "I prefer"). Quotations, tables, headings and code are not the user's
// instructions. The spans are in order, do not overlap, and have no surrounding white space.
func StandingInstructions(text string) []Span {
	var found []Span
	for b := range Blocks(text) {
		if b.Kind > OpenTask {
			continue
		}
		for s := range Sentences(text, b.Span) {
			if s.End-s.Start <= maxInstruction && IsStanding(text[s.Start:s.End]) {
				found = append(found, s)
			}
		}
	}
	return found
}

// standingPhrases make a sentence a standing instruction wherever they occur.
var standingPhrases = lexical.Phrases(`from now on, from here on, from this point on, from today on, going forward, henceforth, in future,
	whenever i ask, every time i ask, each time i ask, any time i ask, when i ask, if i ask, until i say otherwise,
	unless i say otherwise, unless i ask, until further notice, as a rule, standing order, standing instruction, ground rule,
	in all your answers, in all answers, in all your replies, in all your responses, in every answer, in every reply, in every response,
	for the rest of this conversation, for the rest of our conversation, for the rest of the conversation, for all future, in all future,
	i prefer, i'd prefer, i would prefer, i'd rather you, i would rather you, my preference is, we prefer,
	under no circumstances,
	ab jetzt, ab sofort, von jetzt an, von nun an, ab heute, künftig, zukünftig, in zukunft, ich bevorzuge, wir bevorzugen, mir ist lieber,
	bis auf weiteres, in jeder antwort, in allen antworten, auf keinen fall, unter keinen umständen, grundsätzlich,
	à partir de maintenant, dorénavant, désormais, à l'avenir, je préfère, nous préférons, dans toutes tes réponses, dans toutes vos réponses,
	a partir de ahora, de ahora en adelante, en adelante, prefiero, preferimos, en todas tus respuestas,
	a partir de agora, de agora em diante, prefiro, d'ora in poi, da ora in poi, preferisco, vanaf nu, voortaan, ik heb liever,
	od teraz, odtąd, wolę, bundan sonra, her zaman, tercih ederim,
	отныне, впредь, с этого момента, с этого дня, я предпочитаю, предпочитаю, відтепер, надалі`)

// unspacedPhrases are those of languages without spaces between words, found anywhere.
var unspacedPhrases = strings.Fields(`从现在起 从现在开始 从今以后 今后 以后请 以后都 以后不要 往后 請始終 请始终 请总是 请一直 请一律 一律 永远不要 永遠不要 永远用 千万不要 千萬不要
	绝对不要 絕對不要 每次都 每次回答 我更喜欢 我更喜歡 我偏好 绝不要 絕不要 绝不能 絕不能 绝不可 切勿 始终用 始终使用 始終使用 总是用 总是使用 務必始終 务必始终
	今後は これからは 以後 常に 毎回 決して 必ず 앞으로 항상 언제나 절대 매번 저는 선호`)

// unspacedNever are "never" with what follows it, except verbs of knowing and feeling.
var unspacedNever = pattern.New(`(?:从不|從不|绝不|絕不|决不|永远不|永遠不)(?:[^知认認觉覺想喜爱愛在]|在[^乎意])`)

// lasting are the words for always and never, which make an order a permanent one.
var lasting = lexical.Set(`always never immer nie niemals stets toujours jamais siempre nunca jamás sempre mai altijd nooit
	zawsze nigdy asla всегда никогда завжди ніколи`)

// narrative are words that, after "always" or "never", make a clause a story or an opinion.
var narrative = lexical.Set(`mind been had was were did thought knew again ever happy good nice great glad fun a an the there here on at
	went got came saw felt said told heard tried wanted loved liked enjoyed wondered have has really quite so very too something someone
	love enjoy feel felt dreamed dreamt imagined understood remember forget forgot know get gets see go going seem seems
	up full calm look looks remind reminds say quit`)

var (
	modals          = lexical.Set(`must should shall may muss müssen darf dürfen soll sollen sollte sollten sollst doit doivent dois devez debe deben debes deve devem devono moet moeten должен должна должно должны`)
	politeWords     = lexical.Set(`please bitte`)
	beforeTo        = lexical.Set(`you remember sure please`) // words before "to always"
	speakers        = lexical.Set(`i we`)
	preferenceVerbs = lexical.Set(`want need prefer use write format answer expect`)

	// softeners may come between the beginning of a clause and its verb.
	softeners = lexical.Set(`please just also so then and but or remember important rule note bitte und aber oder also auch s'il vous plaît plait et mais por favor y pero`)

	// subjects begin a statement; a clause that begins with another word may be an order.
	subjects = lexical.Set(`i you he she it we they this that these those there the a an my your his her our their who what which someone everyone people life
		i'm i've i'll it's they're she's he's we're we've you're that's ich du er sie es wir ihr das dies dieser diese der die den ein eine mein meine sein seine unser unsere man so da hier noch nicht
		je tu il elle on nous vous ils elles ce cela ça c'est le la les un une mon ma mes son sa ses notre
		yo él ella nosotros ellos esto eso el los las una mi mis su sus nuestro nuestra no se lo
		eu ele ela nós eles isto isso o os as um uma meu minha io lui lei noi loro questo il lo gli uno mio mia non
		я ты он она оно мы вы они это мой моя наш наша не`)

	// orders are English imperatives that "always" or "never" may follow, not necessarily directly.
	orders = lexical.Set(`use answer reply respond write keep format give show put call speak include add name prefer avoid explain list quote cite translate convert round`)

	// circumstances begin a part of a sentence without a verb: "We deploy on Sunday, never on a Friday".
	circumstances = lexical.Set(`on at in before after during without outside by with within to for from over under via as
		am an auf aus bei beim bis gegen im in mit nach ohne per seit über um unter vom von vor während zu zum zur als`)

	// habits begin a sentence about how something is done here: "We deploy ...", an order, or the same in German.
	habits = lexical.Set(`we wir always never immer nie niemals
		deploy ship release merge push publish send schedule book plan pay order contact call mail run post buy test commit
		antworte schreib schreibe schick schicke sende nutze verwende nimm buche bestelle plane gib zeig zeige mach mache`)

	// past are words in sentences about what happened.
	past = lexical.Set(`was were had did went met came ran got saw took gave made said told left kept sent paid bought built ate slept spent drove flew
		wrote read felt found thought knew stayed became began chose lost won used
		war waren hatte hatten haben hat habe wurde wurden ging gingen kam kamen fuhr fuhren gab gaben traf trafen sah sahen blieb blieben`)

	conjunctions = lexical.Set(`and or but und oder aber et mais y pero e ma`)

	auxiliaries = lexical.Set(`ist war sind hat hatte habe wird est était a était es era está foi é è был была`)
)

// IsStanding reports whether a sentence is a standing instruction.
func IsStanding(sentence string) bool {
	words, ends := Words(sentence)
	if len(ends) < 2 && !strings.ContainsFunc(sentence, lexical.IsUnspaced) {
		return false
	}
	question := strings.ContainsRune("?？؟", lastRune(strings.TrimRight(sentence, "\"'”’»)")))
	if strings.HasPrefix(sentence, "\"") || strings.HasPrefix(sentence, "“") || strings.HasPrefix(sentence, "„") {
		return false
	}
	if question && !strings.HasPrefix(words, "can you please ") && !strings.HasPrefix(words, "could you please ") {
		return false
	}
	never := saysNever(words)
	isLasting := false
	start := 0
	for i, end := range ends {
		isLasting = isLasting || lasting[words[start:end]] && (words[start:end] != mai || never)
		for n := i; n < len(ends) && n < i+longestPhrase; n++ {
			if standingPhrases[words[start:ends[n]]] {
				return true
			}
		}
		start = end + 1
	}
	if strings.ContainsFunc(sentence, lexical.IsUnspaced) {
		for _, p := range unspacedPhrases {
			if strings.Contains(sentence, p) {
				return true
			}
		}
	}
	return isJoinedHabit(sentence) || isLasting && isPermanentOrder(clauseWords(sentence), never)
}

// isJoinedHabit reports whether a Chinese sentence is about what "we never do". With a mark of the past it would be
// about what happened.
func isJoinedHabit(sentence string) bool {
	isOurs := strings.HasPrefix(sentence, "我们") || strings.HasPrefix(sentence, "我們") || strings.HasPrefix(sentence, "咱们")
	return isOurs && unspacedNever().MatchString(sentence) && !strings.ContainsAny(sentence, "了过過曾")
}

// longestPhrase is the maximum number of words in a standing phrase.
const longestPhrase = 6

// clauseWord is a word in lower case, with its position in its clause.
type clauseWord struct {
	text     string
	position int
}

// clauseWords splits a sentence at its punctuation and conjunctions.
func clauseWords(sentence string) []clauseWord {
	var out []clauseWord
	position := 0
	for field := range strings.FieldsSeq(sentence) {
		text, _ := Words(field)
		for word := range strings.FieldsSeq(text) {
			if softeners[word] {
				position = 0
			}
			out = append(out, clauseWord{word, position})
			if !softeners[word] {
				position++
			}
		}
		if strings.ContainsRune(",;:.!?—–-()，；：", lastRune(field)) {
			position = 0
		}
	}
	return out
}

// isPermanentOrder reports whether a clause orders something with "always" or "never". mai is one of these words only if
// never.
func isPermanentOrder(words []clauseWord, never bool) bool {
	at := func(i int) string {
		if i < 0 || i >= len(words) {
			return ""
		}
		return words[i].text
	}
	for i, w := range words {
		if w.text == mai && !never {
			continue
		}
		if lasting[w.text] && i > 0 && w.position == 0 && circumstances[at(i+1)] {
			if isHabit(words[:i]) {
				return true
			}
			continue
		}
		if !lasting[w.text] || narrative[at(i+1)] || at(i-1) == "as" || at(i+1) == "give" && at(i+2) == "up" {
			continue
		}
		before, next := at(i-1), at(i+1)
		switch {
		case modals[before] || politeWords[before] || before == "to" && beforeTo[at(i-2)]:
			return true
		case speakers[before] && (preferenceVerbs[next] || before == "we" && next != "" && !strings.HasSuffix(next, "ed")):
			return true
		case w.position == 0:
			if next != "" && !strings.HasSuffix(next, "ing") && !(conjunctions[before] && subjects[words[0].text]) {
				return true
			}
		case lastingAfterModal(words[:i]):
			return true
		case orderAt(words, i):
			return true
		}
	}
	return false
}

// isHabit reports whether the words before "never on ..." state how something is done here, or are an order. A statement
// of what happened once, or of what others do, is not an instruction.
func isHabit(before []clauseWord) bool {
	first, polite := 0, false
	for first < len(before)-1 && softeners[before[first].text] {
		polite = polite || politeWords[before[first].text]
		first++
	}
	if !polite && !habits[before[first].text] && !orders[before[first].text] {
		return false
	}
	for _, w := range before {
		if past[w.text] || len(w.text) > 4 && strings.HasSuffix(w.text, "ed") && !strings.HasSuffix(w.text, "eed") {
			return false
		}
	}
	return true
}

// lastingAfterModal reports whether a modal verb comes earlier in the clause, for languages that put words between the
// two: "Preise dürfen in Logs nie stehen".
func lastingAfterModal(before []clauseWord) bool {
	for i := len(before) - 1; i >= 0; i-- {
		if modals[before[i].text] && before[i].text != "may" && before[i].text != "should" {
			return true
		}
		if before[i].position == 0 {
			break
		}
	}
	return false
}

// orderAt reports whether the word at i belongs to a clause that begins with an order: "Antworte immer auf Deutsch",
// "Use metric units always".
func orderAt(words []clauseWord, i int) bool {
	first := i
	for first > 0 && words[first].position > 0 {
		first--
	}
	verb := words[first].text
	if orders[verb] {
		return true
	}
	if subjects[verb] || words[i].text == "always" || words[i].text == "never" || !startsWithLetter(verb) {
		return false
	}
	switch i - first {
	case 1:
		return true
	case 2:
		return strings.Contains(" mir uns bitte mich hier moi nous me ", " "+words[first+1].text+" ") && !auxiliaries[verb]
	}
	return false
}

func startsWithLetter(s string) bool { return strings.IndexFunc(s, unicode.IsLetter) == 0 }
