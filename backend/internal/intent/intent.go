// Package intent classifies sentences by cue words of many languages. It uses no grammar. The package is pure.
package intent

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"contextinfinity/backend/internal/lexical"
)

// Kind is the kind of a statement.
type Kind string

const (
	Decision   Kind = "decision"
	Constraint Kind = "constraint"
	Task       Kind = "task"
	Fact       Kind = "fact" // about the speaker
)

// spacedCues are phrases that make a sentence a statement worth keeping, in lower case, with single spaces between
// words and commas between phrases. If a sentence has cues of several kinds, the first kind in order wins.
var spacedCues = map[Kind]string{
	Decision: `decided, we decide, i decide, decision, we will use, we'll use, i will use, i'll use, let's use, let us use, let's go with,
		we go with, we'll go with, going with, agreed, we chose, i chose, chosen, settled on, opted for, final answer, approved, we are switching to, we're switching to,
		we switched to, switching from, switched from, switch from, migrating from, migrated from, instead of using,
		entschieden, beschlossen, entscheidung, wir nehmen, wir verwenden, wir nutzen, vereinbart, einigen uns, festgelegt,
		décidé, décision, choisi, nous utiliserons, on utilisera, on prend, convenu, retenu,
		decidido, decidimos, decisión, elegimos, elegido, usaremos, vamos a usar, acordado, acordamos,
		decisão, escolhemos, escolhido, vamos usar, combinado,
		deciso, decisione, abbiamo scelto, scelto, useremo, concordato,
		besloten, beslissing, we gebruiken, gekozen, afgesproken,
		postanowiliśmy, zdecydowaliśmy, decyzja, wybraliśmy, użyjemy, ustaliliśmy,
		karar verdik, karar, kullanacağız, seçtik,
		решили, решено, решение, выбрали, будем использовать, договорились, вирішили, рішення, обрали`,
	Constraint: `never, always, must, mustn't, must not, do not, don't, shall not, cannot, may not, forbidden, prohibited, not allowed,
		required, mandatory, at most, at least, no more than, no less than, no later than, under no circumstances, only ever, make sure, ensure that,
		niemals, nie, immer, muss, müssen, darf nicht, dürfen nicht, darf nie, verboten, höchstens, mindestens, auf keinen fall, zwingend,
		jamais, toujours, doit, doivent, ne pas, interdit, obligatoire, au plus, au moins, il faut,
		nunca, siempre, debe, deben, no se debe, prohibido, obligatorio, como máximo, como mínimo, al menos, hay que,
		sempre, deve, devem, jamais, proibido, obrigatório, no máximo, no mínimo, pelo menos,
		mai, devono, vietato, obbligatorio, al massimo, almeno,
		nooit, altijd, moet, moeten, mag niet, verplicht, hoogstens, minstens,
		nigdy, zawsze, musi, muszą, nie wolno, zabronione, wymagane, najwyżej, przynajmniej,
		asla, her zaman, zorunda, zorunlu, yasak, en fazla, en az,
		никогда, всегда, должен, должна, должно, должны, нельзя, запрещено, обязательно, не более, не менее, ніколи, завжди, повинен, повинні, заборонено,
		يجب, لا يجوز, أبدا, دائما, ممنوع, हमेशा, कभी नहीं, ज़रूरी, अनिवार्य`,
	Task: `todo, fixme, next step, next steps, still need, still needs, we need to, i need to, remains to, open question, follow up,
		don't forget, remember to, remind me, action item, later we,
		noch zu tun, noch offen, muss noch, müssen noch, als nächstes, nächster schritt, offene frage,
		à faire, il reste, prochaine étape, reste à,
		pendiente, por hacer, próximo paso, falta, queda por, próxima etapa, pendente, a fazer,
		da fare, prossimo passo, resta da,
		nog te doen, volgende stap, do zrobienia, następny krok, yapılacak, sonraki adım,
		осталось, следующий шаг, нужно сделать, нужно, надо, не забыть, залишилось, наступний крок, потрібно`,
	Fact: `my name is, i am called, i live, i work, i use, i prefer, i like, i have, my favourite, my favorite, we use, we have, we run, our,
		ich heiße, mein name, ich wohne, ich arbeite, wir haben, unser, unsere,
		je m'appelle, j'habite, je travaille, nous avons, notre,
		me llamo, mi nombre, vivo en, trabajo, tenemos, nuestro, nuestra,
		meu nome, moro em, temos, nosso, mi chiamo, abito, abbiamo, nostro,
		меня зовут, я живу, я работаю, у нас, наш, мене звати`,
}

// unspacedCues are cues of languages written without spaces, or with endings joined to the word, found anywhere in a
// sentence.
var unspacedCues = map[Kind]string{
	Decision:   `决定, 決定, 选择了, 選擇了, 采用, 採用, 约定, 定为, 确定用, 就用, 決めた, 決めました, にします, ことにした, 결정, 선택했, 채택, 하기로`,
	Constraint: `必须, 必須, 绝不, 絕不, 不能, 不得, 禁止, 总是, 始终, 永远, 不要, 不可, 务必, 至少, 最多, 不超过, 必ず, 決して, 常に, 絶対, しなければ, てはいけない, てはならない, 반드시, 절대, 항상, 금지, 해야, 하지 마, 최소, 최대`,
	Task:       `待办, 待辦, 接下来, 还需要, 還需要, 下一步, 尚未, 还没, 别忘, 未対応, やること, 次は, 忘れずに, 할 일, 다음 단계, 잊지`,
	Fact:       `我叫, 我的名字, 我住, 我用, 我喜欢, 我们用, 我们有, 私は, 私の, 使っています, 저는, 제 이름, 우리는`,
}

// order is the order in which kinds are tried. An open task often contains "must", and a decision often "never".
var order = []Kind{Task, Decision, Constraint, Fact}

// longestCue is the maximum number of words in a cue.
const longestCue = 4

var (
	phrases       = phraseTable()
	unspacedTable = unspacedCueTable()
)

func phraseTable() map[string]Kind {
	table := map[string]Kind{}
	for i := len(order) - 1; i >= 0; i-- {
		for p := range strings.SplitSeq(spacedCues[order[i]], ",") {
			table[strings.Join(strings.Fields(p), " ")] = order[i]
		}
	}
	return table
}

func unspacedCueTable() map[Kind][]string {
	table := map[Kind][]string{}
	for kind, list := range unspacedCues {
		table[kind] = strings.Split(list, ", ")
	}
	return table
}

// Of classifies a sentence by its cue words; kind is empty if it has none. isStatement is false for questions and
// single words.
func Of(sentence string) (kind Kind, isStatement bool) {
	if last, _ := utf8.DecodeLastRuneInString(sentence); strings.ContainsRune("?？؟", last) {
		return "", false
	}
	words, ends := Words(sentence)
	if len(ends) < 2 && !strings.ContainsFunc(sentence, lexical.IsUnspaced) {
		return "", false
	}
	best := len(order)
	note := func(kind Kind) {
		for i, k := range order[:best] {
			if k == kind {
				best = i
			}
		}
	}
	start := 0
	for i, end := range ends {
		for n := i; n < len(ends) && n < i+longestCue; n++ {
			if kind, ok := phrases[words[start:ends[n]]]; ok && (words[start:ends[n]] != mai || saysNever(words)) {
				note(kind)
			}
		}
		start = end + 1
	}
	unspacedKinds(sentence, note)
	if best < len(order) {
		return order[best], true
	}
	return "", true
}

// mai is Italian for "never", and the month of May in German and French.
const mai = "mai"

// withMai are words of an Italian sentence with "mai".
var withMai = lexical.Set(`non né senza nessuno nessuna niente nulla più`)

// SaysMai reports whether a sentence has the Italian "mai", not the month of May.
func SaysMai(sentence string) bool {
	words, _ := Words(sentence)
	return slices.Contains(strings.Fields(words), mai) && saysNever(words)
}

// saysNever reports whether mai means "never" in a sentence, given in lower case: it comes with another negation or
// before an infinitive.
func saysNever(words string) bool {
	previous := ""
	for word := range strings.FieldsSeq(words) {
		if withMai[word] || previous == mai && (strings.HasSuffix(word, "re") || strings.HasSuffix(word, "rsi")) {
			return true
		}
		previous = word
	}
	return false
}

func unspacedKinds(sentence string, note func(Kind)) {
	if !strings.ContainsFunc(sentence, lexical.IsUnspaced) {
		return
	}
	for _, kind := range order {
		for _, cue := range unspacedTable[kind] {
			if strings.Contains(sentence, cue) {
				note(kind)
				break
			}
		}
	}
}

// Words returns the sentence's words in lower case, separated by single spaces, and the end of each.
func Words(sentence string) (string, []int) {
	var b strings.Builder
	b.Grow(len(sentence) + 1)
	var ends []int
	inWord := false
	for _, r := range sentence {
		if r == '’' {
			r = '\''
		}
		word := unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) || (r == '\'' && inWord)
		if word && !inWord && b.Len() > 0 {
			b.WriteByte(' ')
		}
		if !word && inWord {
			ends = append(ends, b.Len())
		}
		if word {
			b.WriteRune(unicode.ToLower(r))
		}
		inWord = word
	}
	if inWord {
		ends = append(ends, b.Len())
	}
	return b.String(), ends
}

// EndsSentence reports whether a mark ends a sentence, provided that a space follows it or the script needs none.
func EndsSentence(r rune) bool {
	switch r {
	case '.', '!', '?', '。', '！', '？', '｡', '।', '؟', '۔':
		return true
	}
	return false
}
