package dates

import (
	"strings"

	"contextinfinity/backend/internal/pattern"
)

// words are the words that a date may contain, with the number of a month, or 0 for words that do not identify the day.
var words = func() map[string]int {
	known := map[string]int{}
	for month, names := range [13]string{
		"monday mon tuesday tue tues wednesday wed thursday thu thur thurs friday fri saturday sat sunday sun " +
			"montag mo dienstag di mittwoch mi donnerstag do freitag fr samstag sa sonnabend sonntag so " +
			"lundi lun mardi mercredi mer jeudi jeu vendredi ven samedi sam dimanche dim " +
			"lunes martes mié miércoles jueves jue viernes vie sábado sáb domingo dom " +
			"on at the of um am den der uhr le la à el a las los de del do da di og om op den i " +
			"в г г. года",
		"january jan januar jänner janvier janv enero ene gennaio gen janeiro januari januára stycznia января янв",
		"february feb februar februari feber février févr fév febrero febbraio fevereiro fev lutego февраля фев",
		"march mar märz mrz maart mars marzo março marca марта мар",
		"april apr avril avr abril abr aprile kwietnia апреля апр",
		"may mai mayo mag maggio maio mei maj maja мая",
		"june jun juni juin junio giugno giu junho czerwca июня июн",
		"july jul juli juillet juil julio luglio lug julho lipca июля июл",
		"august aug août aou agosto ago augustus sierpnia августа авг",
		"september sep sept septembre septiembre settembre set setembro września сентября сен сент",
		"october oct oktober okt octobre octubre ottobre ott outubro out października октября окт",
		"november nov novembre noviembre novembro listopada ноября ноя",
		"december dec dezember dez décembre déc diciembre dic dicembre dezembro grudnia декабря дек",
	} {
		for name := range strings.FieldsSeq(names) {
			if month > 0 || known[name] == 0 {
				known[name] = month
			}
		}
	}
	return known
}()

// dateWords returns the parts of a date, without the words that do not identify the day. Numbers keep the separators
// between them.
func dateWords(text string) []string {
	text = eastAsian.Replace(text)
	var out []string
	for _, field := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' || r == '،' }) {
		if month, ok := words[strings.TrimSuffix(field, ".")]; ok && month == 0 {
			continue
		}
		out = append(out, field)
	}
	return out
}

// eastAsian converts the counters of Chinese, Japanese and Korean dates to separators.
var eastAsian = strings.NewReplacer("年", "-", "月", "-", "日", " ", "号", " ", "년 ", "-", "년", "-", "월 ", "-", "월", "-", "일", " ")

var numeric = pattern.New(`^(\d{1,4})(-|/|\.) ?(\d{1,2})(-|/|\.) ?(\d{1,4})\.?$`)

// numericDate reads a date of three numbers. The order of day and month is known if the year comes first, if dots
// separate them (always day, month, year), if only one of the two can be a month, or if both are equal. A year has
// four digits.
func numericDate(text string) (year, month, day int, ok bool) {
	m := numeric().FindStringSubmatch(text)
	if m == nil || m[2] != m[4] {
		return 0, 0, 0, false
	}
	first, second, third := number(m[1]), number(m[3]), number(m[5])
	switch {
	case len(m[1]) == 4 && len(m[5]) <= 2:
		return first, second, third, true
	case len(m[1]) > 2 || len(m[5]) != 4:
		return 0, 0, 0, false
	case m[2] == "." || first > 12 || first == second:
		return third, second, first, true
	case second > 12:
		return third, first, second, true
	}
	return 0, 0, 0, false
}

// dayNumber matches the number of a day with its ordinal ending.
var dayNumber = pattern.New(`^(\d{1,2})(?:st|nd|rd|th|er|º|ª|\.)?$`)

// namedDate reads a date with a month name and the year first or last.
func namedDate(text string) (year, month, day int, ok bool) {
	parts := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" -/.", r) })
	if len(parts) != 3 {
		return 0, 0, 0, false
	}
	name := 0
	for i, p := range parts {
		if words[strings.TrimSuffix(p, ".")] > 0 {
			name, month = i, words[strings.TrimSuffix(p, ".")]
		}
	}
	if month == 0 || name == 2 {
		return 0, 0, 0, false
	}
	rest := []string{parts[1-name], parts[2]} // the other two, in order
	if len(rest[0]) == 4 && len(rest[1]) <= 3 {
		rest[0], rest[1] = rest[1], rest[0]
	}
	d := dayNumber().FindStringSubmatch(rest[0])
	y := strings.TrimSuffix(rest[1], ".")
	if d == nil || len(y) != 4 || number(y) == 0 {
		return 0, 0, 0, false
	}
	return number(y), month, number(d[1]), true
}
