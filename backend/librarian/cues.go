package librarian

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"contextinfinity/backend/internal/display"
	"contextinfinity/backend/internal/intent"
	"contextinfinity/backend/internal/lexical"
)

// units are the words after a number that make it a measurement.
var units = lexical.Set(`ms s sec secs second seconds min mins minute minutes h hr hour hours day days week weeks month months year years
	b kb mb gb tb pb kib mib gib tib byte bytes bit bits kbps mbps gbps hz khz mhz ghz rpm rps qps tps fps px pt dpi em rem
	mm cm m km mi ft inch inches g kg mg lb lbs oz t l ml v mv a ma w kw kwh j n pa bar °c °f k c f mol
	% percent eur usd gbp jpy chf € $ £ ¥ tokens token users rows lines requests times people items pages cores threads
	sekunden minuten stunden tage wochen jahre secondes heures jours ans segundos minutos horas días años секунд минут часов дней лет
	秒 分 分钟 小时 天 周 月 年 个 人 元 円 초 분 시간 일 원`)

// statementKind classifies a sentence, "" if it is not worth keeping.
func statementKind(sentence string) Kind {
	kind, states := cueKind(sentence)
	switch {
	case isFragment(sentence):
		if kind == intent.Constraint {
			kind = ""
		}
	case states && intent.IsStanding(sentence):
		return KindConstraint
	case kind == intent.Constraint && (isOpinion(sentence) || isMood(sentence) || isPromise(sentence) && details(sentence) < enoughDetails):
		kind = ""
	}
	if kind == "" && isChoice(sentence) {
		return KindDecision
	}
	if kind == "" && states && measured(sentence) {
		return KindFact
	}
	return Kind(kind)
}

// isChoice reports whether one thing is chosen instead of another: "Let's do chicken instead".
func isChoice(sentence string) bool {
	words := " " + strings.ReplaceAll(strings.ToLower(display.OneLine(sentence)), "’", "'") + " "
	proposes := containsAny(words, []string{" let's ", " let us ", " we'll ", " i'll ", " wir nehmen ", " ich nehme ", " machen wir "})
	return proposes && containsAny(words, []string{" instead", " rather than ", " stattdessen", " statt "}) && !strings.HasSuffix(strings.TrimSpace(words), "?")
}

// measured reports whether a sentence contains a number with a unit, a sum of money, a date or a time.
func measured(sentence string) bool {
	if !strings.ContainsFunc(sentence, isDigit) {
		return false
	}
	fields := strings.FieldsFunc(sentence, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("()[]\"'`;，。、", r) })
	for i, f := range fields {
		f = strings.ToLower(strings.TrimRight(f, ".,!:"))
		f = strings.TrimLeftFunc(f, lexical.IsUnspaced) // "超时是30秒"
		number := strings.TrimLeft(f, "$€£¥~<>=≈+-")
		unit := strings.TrimLeft(number, "0123456789.,_")
		switch {
		case unit == number: // no digits
		case isDate(number), isClock(number), unit == "" && strings.ContainsAny(f, "$€£¥"), units[unit]:
			return true
		case unit == "" && i+1 < len(fields) && afterNumber(strings.ToLower(strings.TrimRight(fields[i+1], ".,!:"))):
			return true
		case i > 0 && isMonth(strings.ToLower(fields[i-1])) && len(unit) <= 2:
			return true // "March 15", "April 3rd"
		case unit != "" && startsWithUnit(unit):
			return true
		}
	}
	return false
}

func afterNumber(word string) bool {
	return units[word] || isMonth(word) || word == "am" || word == "pm" || word == "a.m" || word == "p.m" || word == "uhr"
}

func isMonth(word string) bool {
	return calendar[word] && word != "may" && word != "march" || monthForms[word]
}

// monthForms are months that are also other words; next to a number they are months.
var monthForms = lexical.Set("may march")

// isClock accepts 9:30 and 18:00:05.
func isClock(s string) bool {
	hour, minute, ok := strings.Cut(s, ":")
	return ok && len(hour) >= 1 && len(hour) <= 2 && len(minute) >= 2 && onlyRunes(hour, isDigit, "") && onlyRunes(minute, isDigit, ":")
}

// startsWithUnit is for text without spaces: "30秒以内".
func startsWithUnit(s string) bool {
	r, size := utf8.DecodeRuneInString(s)
	return lexical.IsUnspaced(r) && units[s[:size]]
}

// isDate accepts 2026-03-04, with or without a time.
func isDate(s string) bool {
	if len(s) < 10 || s[4] != '-' || s[7] != '-' {
		return false
	}
	return onlyRunes(s[:10], isDigit, "-")
}
