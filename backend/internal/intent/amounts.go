package intent

import (
	"slices"
	"strings"
	"unicode"

	"contextinfinity/backend/internal/lexical"
)

// amounts are numbers written as words. "One" and the like are left out: they are more often pronouns and articles.
var amounts = lexical.Set(`two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty
	fifty sixty seventy eighty ninety hundred hundreds thousand thousands million millions billion dozen dozens half quarter twice thrice double triple couple zero none nobody
	zwei drei vier fünf sechs sieben acht neun zehn elf zwölf zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig hundert tausend million millionen dutzend halb
	halbe hälfte zweimal dreimal viertel doppelt null keine keiner
	deux trois quatre cinq sept huit neuf dix onze douze treize quatorze quinze seize vingt trente quarante cinquante soixante cent mille millions douzaine demi moitié double zéro aucun
	dos tres cuatro cinco seis siete ocho nueve diez once doce quince veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa cien mil millones docena medio mitad doble cero ninguno
	due tre quattro cinque sei sette otto nove dieci undici dodici venti trenta quaranta cinquanta cento mila dozzina mezzo metà doppio
	dois duas três quatro sete oito dez doze vinte trinta quarenta cinquenta cem dúzia meio metade dobro
	twee drie vijf zes zeven negen tien twaalf twintig dertig veertig vijftig honderd duizend helft
	dwa dwie trzy cztery pięć sześć siedem osiem dziewięć dziesięć sto tysiąc połowa
	два две три четыре пять шесть семь восемь девять десять сто тысяча половина дюжина`)

// days are weekdays and months, except names that are more often other words ("may"), and relative days.
var days = lexical.Set(`monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays sundays weekend weekday weekdays
	january february march april june july august september october november december today tomorrow yesterday tonight noon midnight
	montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag montags dienstags mittwochs donnerstags freitags samstags sonntags wochenende
	januar februar märz april mai juni juli august oktober dezember heute morgen gestern mittag mitternacht
	lundi mardi mercredi jeudi vendredi samedi dimanche janvier février mars avril juin juillet août septembre octobre novembre décembre demain hier midi minuit
	lunes martes miércoles jueves viernes sábado domingo enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre mañana ayer hoy mediodía
	lunedì martedì mercoledì giovedì venerdì sabato domenica gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre domani ieri oggi
	segunda terça quarta quinta sexta janeiro fevereiro março maio junho julho setembro outubro novembro dezembro amanhã ontem hoje
	maandag dinsdag woensdag donderdag vrijdag zaterdag zondag januari februari maart mei augustus vandaag gisteren
	poniedziałek wtorek środa środę czwartek piątek sobota sobotę niedziela niedzielę jutro wczoraj
	понедельник вторник среда среду четверг пятница пятницу суббота субботу воскресенье января февраля марта апреля мая июня июля августа сентября октября ноября декабря завтра вчера`)

var unspacedDays = []string{"星期", "礼拜", "周一", "周二", "周三", "周四", "周五", "周六", "周日", "曜日", "요일", "明天", "昨天", "今天", "明日", "昨日", "내일", "어제"}

// SaysAmount reports whether a text contains a number, in digits or as a word.
func SaysAmount(text string) bool { return hasFigure(text) || HasWord(text, amounts) }

// SaysDay reports whether a text contains a number, a weekday, a month or the like.
func SaysDay(text string) bool {
	if SaysAmount(text) || HasWord(text, days) {
		return true
	}
	return slices.ContainsFunc(unspacedDays, func(mark string) bool { return strings.Contains(text, mark) })
}

func hasFigure(text string) bool { return strings.ContainsFunc(text, unicode.IsNumber) }

// HasWord reports whether a text contains a word of a set.
func HasWord(text string, set map[string]bool) bool {
	words, _ := Words(text)
	for word := range strings.FieldsSeq(words) {
		if set[word] {
			return true
		}
	}
	return false
}
