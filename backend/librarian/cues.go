package librarian

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// cues are the phrases that make a sentence a statement worth keeping, in lower
// case, words apart by one space, phrases by a comma. Where a sentence has cues of
// several kinds the first kind in statementOrder wins.
var cues = map[Kind]string{
	KindDecision: `decided, we decide, i decide, decision, we will use, we'll use, i will use, i'll use, let's use, let us use, let's go with,
		we go with, we'll go with, going with, agreed, we chose, i chose, chosen, settled on, opted for, final answer, approved, we are switching to,
		we switched to, instead of using,
		entschieden, beschlossen, entscheidung, wir nehmen, wir verwenden, wir nutzen, vereinbart, einigen uns, festgelegt,
		décidé, décision, choisi, nous utiliserons, on utilisera, on prend, convenu, retenu,
		decidido, decidimos, decisión, elegimos, elegido, usaremos, vamos a usar, acordado, acordamos,
		decisão, escolhemos, escolhido, vamos usar, combinado,
		deciso, decisione, abbiamo scelto, scelto, useremo, concordato,
		besloten, beslissing, we gebruiken, gekozen, afgesproken,
		postanowiliśmy, zdecydowaliśmy, decyzja, wybraliśmy, użyjemy, ustaliliśmy,
		karar verdik, karar, kullanacağız, seçtik,
		решили, решено, решение, выбрали, будем использовать, договорились, вирішили, рішення, обрали`,
	KindConstraint: `never, always, must, mustn't, must not, do not, don't, shall not, cannot, may not, forbidden, prohibited, not allowed,
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
	KindTask: `todo, fixme, next step, next steps, still need, still needs, we need to, i need to, remains to, open question, follow up,
		don't forget, remember to, remind me, action item, later we,
		noch zu tun, noch offen, muss noch, müssen noch, als nächstes, nächster schritt, offene frage,
		à faire, il reste, prochaine étape, reste à,
		pendiente, por hacer, próximo paso, falta, queda por, próxima etapa, pendente, a fazer,
		da fare, prossimo passo, resta da,
		nog te doen, volgende stap, do zrobienia, następny krok, yapılacak, sonraki adım,
		осталось, следующий шаг, нужно сделать, нужно, надо, не забыть, залишилось, наступний крок, потрібно`,
	KindFact: `my name is, i am called, i live, i work, i use, i prefer, i like, i have, my favourite, my favorite, we use, we have, we run, our,
		ich heiße, mein name, ich wohne, ich arbeite, wir haben, unser, unsere,
		je m'appelle, j'habite, je travaille, nous avons, notre,
		me llamo, mi nombre, vivo en, trabajo, tenemos, nuestro, nuestra,
		meu nome, moro em, temos, nosso, mi chiamo, abito, abbiamo, nostro,
		меня зовут, я живу, я работаю, у нас, наш, мене звати`,
}

// joinedCues are those of languages written without spaces, or with endings
// joined to the word, found anywhere in a sentence.
var joinedCues = map[Kind]string{
	KindDecision:   `决定, 決定, 选择了, 選擇了, 采用, 採用, 约定, 定为, 确定用, 就用, 決めた, 決めました, にします, ことにした, 결정, 선택했, 채택, 하기로`,
	KindConstraint: `必须, 必須, 绝不, 絕不, 不能, 不得, 禁止, 总是, 始终, 永远, 不要, 不可, 务必, 至少, 最多, 不超过, 必ず, 決して, 常に, 絶対, しなければ, てはいけない, てはならない, 반드시, 절대, 항상, 금지, 해야, 하지 마, 최소, 최대`,
	KindTask:       `待办, 待辦, 接下来, 还需要, 還需要, 下一步, 尚未, 还没, 别忘, 未対応, やること, 次は, 忘れずに, 할 일, 다음 단계, 잊지`,
	KindFact:       `我叫, 我的名字, 我住, 我用, 我喜欢, 我们用, 我们有, 私は, 私の, 使っています, 저는, 제 이름, 우리는`,
}

// statementOrder is the order in which kinds are tried. An open task is often
// worded as a must, and a decision often has a never in it.
var statementOrder = []Kind{KindTask, KindDecision, KindConstraint, KindFact}

// units are those after which a number is a measurement.
var units = setOf(`ms s sec secs second seconds min mins minute minutes h hr hour hours day days week weeks month months year years
	b kb mb gb tb pb kib mib gib tib byte bytes bit bits kbps mbps gbps hz khz mhz ghz rpm rps qps tps fps px pt dpi em rem
	mm cm m km mi ft inch inches g kg mg lb lbs oz t l ml v mv a ma w kw kwh j n pa bar °c °f k c f mol
	% percent eur usd gbp jpy chf € $ £ ¥ tokens token users rows lines requests times people items pages cores threads
	sekunden minuten stunden tage wochen jahre secondes heures jours ans segundos minutos horas días años секунд минут часов дней лет
	秒 分 分钟 小时 天 周 月 年 个 人 元 円 초 분 시간 일 원`)

// longestCue is how many words a cue may have.
const longestCue = 4

var (
	phrases     = phraseTable()
	joinedTable = joinedCueTable()
)

func phraseTable() map[string]Kind {
	table := map[string]Kind{}
	for i := len(statementOrder) - 1; i >= 0; i-- {
		for p := range strings.SplitSeq(cues[statementOrder[i]], ",") {
			table[strings.Join(strings.Fields(p), " ")] = statementOrder[i]
		}
	}
	return table
}

func joinedCueTable() map[Kind][]string {
	table := map[Kind][]string{}
	for kind, list := range joinedCues {
		table[kind] = strings.Split(list, ", ")
	}
	return table
}

// statementKind is what a sentence states, "" if nothing that is kept. Questions
// state nothing.
func statementKind(sentence string) Kind {
	if last, _ := utf8.DecodeLastRuneInString(sentence); strings.ContainsRune("?？؟", last) {
		return ""
	}
	words, ends := normalWords(sentence)
	if len(ends) < 2 && !strings.ContainsFunc(sentence, unspaced) {
		return "" // a word alone states nothing
	}
	best := len(statementOrder)
	note := func(kind Kind) {
		for i, k := range statementOrder[:best] {
			if k == kind {
				best = i
			}
		}
	}
	start := 0
	for i, end := range ends {
		for n := i; n < len(ends) && n < i+longestCue; n++ {
			if kind, ok := phrases[words[start:ends[n]]]; ok {
				note(kind)
			}
		}
		start = end + 1
	}
	joinedKinds(sentence, note)
	if best < len(statementOrder) {
		return statementOrder[best]
	}
	if measured(sentence) {
		return KindFact
	}
	return ""
}

func joinedKinds(sentence string, note func(Kind)) {
	if !strings.ContainsFunc(sentence, unspaced) {
		return
	}
	for _, kind := range statementOrder {
		for _, cue := range joinedTable[kind] {
			if strings.Contains(sentence, cue) {
				note(kind)
				break
			}
		}
	}
}

// normalWords is the sentence's words in lower case, apart by one space, and
// where each ends.
func normalWords(sentence string) (string, []int) {
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

// measured reports a number with a unit, a sum of money or a date.
func measured(sentence string) bool {
	if !strings.ContainsFunc(sentence, isDigit) {
		return false
	}
	fields := strings.FieldsFunc(sentence, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("()[]\"'`;，。、", r) })
	for i, f := range fields {
		f = strings.ToLower(strings.TrimRight(f, ".,!:"))
		f = strings.TrimLeftFunc(f, unspaced) // "超时是30秒"
		number := strings.TrimLeft(f, "$€£¥~<>=≈+-")
		unit := strings.TrimLeft(number, "0123456789.,_")
		switch {
		case unit == number: // no digits
		case isDate(number), unit == "" && strings.ContainsAny(f, "$€£¥"), units[unit]:
			return true
		case unit == "" && i+1 < len(fields) && units[strings.ToLower(strings.TrimRight(fields[i+1], ".,!:"))]:
			return true
		case unit != "" && startsWithUnit(unit):
			return true
		}
	}
	return false
}

// startsWithUnit serves text without spaces: "30秒以内".
func startsWithUnit(s string) bool {
	r, size := utf8.DecodeRuneInString(s)
	return unspaced(r) && units[s[:size]]
}

// isDate accepts 2026-03-04, with or without a time.
func isDate(s string) bool {
	if len(s) < 10 || s[4] != '-' || s[7] != '-' {
		return false
	}
	return only(s[:10], isDigit, "-")
}
