package librarian

import (
	"strings"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/dates"
	"contextinfinity/backend/internal/intent"
	"contextinfinity/backend/internal/pattern"
)

// intended matches words with which people speak of the future.
var intended = pattern.New(`\b(?:planning|waiting|expecting|plan to|plan on|preparing|prepare for|scheduled|booked|arranged|upcoming|due|deadline|going to|gonna|i'll|i will|we'll|we will|i have (?:a|an|my|to|another)|i've got (?:a|an|my|to|another)|i need to|we need to|have to|want to|aim to|aiming|hope to|hoping|starts|begins|leaving|moving|flying|meeting|interview|appointment|negotiation|presentation|launch|release|exam|flight|move|by|before|until` +
	`|plane|geplant|termin|frist|bis|werde|muss|rendez-vous|prévu|avant|échéance|cita|plazo|previsto|antes|prazo|scadenza|entro)\b`)

// pastTense matches words about the past, whatever date is in the sentence.
var pastTense = pattern.New(`\b(?:did|was|were|went|met|sent|submitted|finished|completed|attended|celebrated|uploaded|applied|signed|received|got back|launched|released|decided|chose|agreed)\b`)

// writtenDate matches a date in a sentence, with or without a year.
var writtenDate = pattern.New(`(?i)\b\d{4}-\d{2}-\d{2}\b|\b` + monthName + `\.?[ -]\d{1,2}(?:st|nd|rd|th)?\b(?:,?[ -]\d{4}\b)?|\b\d{1,2}(?:st|nd|rd|th|\.)?[ -](?:of |de )?` + monthName + `\b(?:,?[ -](?:de )?\d{4}\b)?`)

const monthName = `(?:jan(?:uary|uar)?|feb(?:ruary|ruar)?|mar(?:ch)?|märz|apr(?:il)?|may|mai|june?|juni|july?|juli|aug(?:ust)?|sept?(?:ember)?|o[ck]t(?:ober)?|nov(?:ember)?|de[cz](?:ember)?)`

// halfYear is how far in the future a date without a year can be: otherwise the date of the previous year is meant.
const halfYear = 183 * 24 * time.Hour

// maxDates limits how many dates of a statement are read.
const maxDates = 400

// isAhead reports whether a statement contains a date that is not past at the given time.
func isAhead(statement string, now time.Time) bool {
	if now.IsZero() {
		return false
	}
	today := now.UTC().Truncate(24 * time.Hour)
	for _, m := range writtenDate().FindAllString(statement, maxDates) {
		if day, ok := dayOf(m, today); ok && !day.Before(today) {
			return true
		}
	}
	return false
}

// ordinal is the ending of a day's number.
var ordinal = pattern.New(`(\d)(?:st|nd|rd|th)\b`)

// hasYear matches a date that is written with its year.
var hasYear = pattern.New(`\d{4}`)

func dayOf(written string, today time.Time) (time.Time, bool) {
	written = ordinal().ReplaceAllString(strings.ReplaceAll(written, " of ", " "), "$1")
	if hasYear().MatchString(written) {
		return dates.Parse(written)
	}
	for _, year := range []int{today.Year(), today.Year() + 1} {
		day, ok := dates.Parse(strings.TrimSuffix(written, ".") + " " + time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC).Format("2006"))
		if ok && !day.Before(today) {
			return day, day.Sub(today) <= halfYear
		}
	}
	return time.Time{}, false
}

// isPlan reports whether the user plans something for a date that is not past.
func isPlan(statement string, now time.Time) bool {
	if strings.HasPrefix(statement, requestMark) || strings.HasPrefix(statement, assistantMark) || !isAhead(statement, now) {
		return false
	}
	lower := strings.ReplaceAll(strings.ToLower(statement), "’", "'")
	if pastTense().MatchString(lower) && !strings.Contains(lower, "booked") && !strings.Contains(lower, "scheduled") {
		return false
	}
	return intended().MatchString(lower)
}

// settlePlans turns the plans of an earlier summary into facts once their date is past.
func settlePlans(s Summary, now time.Time) Summary {
	var open []string
	for _, e := range s.entries[OpenTasks] {
		if kind, _ := cueKind(e); kind != intent.Task && writtenDate().MatchString(e) && !now.IsZero() && !isAhead(e, now) {
			s.entries[Facts] = append(s.entries[Facts][:len(s.entries[Facts]):len(s.entries[Facts])], e)
			continue
		}
		open = append(open, e)
	}
	s.entries[OpenTasks] = open
	return s
}

// timeOf is the time of the newest turn.
func timeOf(turns []chat.Turn) time.Time {
	if len(turns) == 0 {
		return time.Time{}
	}
	return turns[len(turns)-1].CreatedAt
}
