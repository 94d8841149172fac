package librarian

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"contextinfinity/backend/internal/intent"
	"contextinfinity/backend/internal/lexical"
	"contextinfinity/backend/internal/numerals"
	"contextinfinity/backend/internal/pattern"
)

// replacing matches words before the name of something that no longer applies, and that name: "PostgreSQL instead of
// SQLite".
var replacing = pattern.New(`(?i:(?:\binstead of|\brather than|\bin place of|\bno longer(?: use| using| with| on)?|\breplac(?:es|ed|ing|e)|\b(?:switch|switched|switching|migrate|migrated|migrating|move|moved|moving|change|changed|changing) (?:\w+ ){0,3}?(?:away )?from|\bdrop(?:ped|ping)?|\bstatt|\banstatt|\banstelle von|\bau lieu de|\ben lugar de|\ben vez de|вместо)\s+(?:using |the |a |an |our |my |der |die |das |dem |den )?)((?:[^\s,;:.!?()]|\.\w)+(?:[ -][A-Z0-9][^\s,;:.!?()]*)?)`)

// replacingJoined matches such words in Chinese and Japanese.
var replacingJoined = pattern.New(`(?:代替|取代|而不是|不再使用|不再用|替换)\s*([A-Za-z0-9][A-Za-z0-9_.+#-]*|\p{Han}{2,6})`)

// changes are words with which a statement says that something has changed.
var changes = lexical.Set(`now instead rather changed change changes moved move postponed rescheduled updated update switch switched switching replaced replace
	actually correction corrected longer anymore new increased decreased raised lowered reduced adjusted extended revised jetzt nun stattdessen geändert verschoben doch neu neue neuer neues aktualisiert maintenant désormais
	reporté changé ahora cambiado aplazado теперь перенесли изменили`)

var changesJoined = []string{"改为", "改成", "改用", "现在", "推迟", "提前到", "変更", "에서", "바뀌", "변경"}

// replacedNames returns the names that, according to a statement, no longer apply.
func replacedNames(statement string) []string {
	var out []string
	for _, re := range []pattern.Pattern{replacing, replacingJoined} {
		for _, m := range re().FindAllStringSubmatch(statement, -1) {
			if name := strings.Trim(m[1], "`\"'*"); len(name) >= 2 {
				out = append(out, strings.ToLower(name))
			}
		}
	}
	return out
}

func statesChange(statement string) bool {
	return intent.HasWord(statement, changes) || containsAny(statement, changesJoined)
}

// replacement describes what a new statement replaces.
type replacement struct {
	names   []string
	change  bool
	content evidence
}

func replacementBy(statement string) replacement {
	r := replacement{names: replacedNames(statement), change: statesChange(statement)}
	if r.change || len(r.names) > 0 {
		r.content = evidenceOf(statement)
	}
	return r
}

// subjectShare is the share of an earlier statement's subject that a later one must have to replace it.
const subjectShare = 0.6

// replaces reports whether an earlier entry no longer applies: it is about a replaced name, or the later statement says
// that something about the same subject has changed. Standing instructions are replaced only by name.
func (r replacement) replaces(sec Section, earlier string) bool {
	lower := strings.ToLower(earlier)
	for _, name := range r.names {
		if sec == Artifacts && strings.Trim(lower, "`") == name {
			return true
		}
		if sec == Artifacts || !containsWord(lower, name) || len(replacedNames(earlier)) > 0 {
			continue
		}
		if sec == Decisions && decidesOnly(earlier, name) || r.sameSubject(earlier, name) {
			return true
		}
	}
	if !r.change || sec == Artifacts || intent.IsStanding(earlier) || r.content.states(earlier) {
		return false
	}
	words := subjectOf(earlier)
	shared := 0
	for w := range words {
		if r.content.stems[w] {
			shared++
		}
	}
	if shared == 1 && len(words) == 1 {
		return len(numerals.In(earlier)) > 0 && len(r.content.numbers) > 0 // another date or amount of the same thing
	}
	return shared >= 2 && float64(shared) >= subjectShare*float64(len(words))
}

// decidesOnly reports whether a decision is only about one name: nothing else is lost with it.
func decidesOnly(decision, name string) bool {
	names := nameStems(decision)
	for w := range contentStems(name) {
		delete(names, w)
	}
	return len(names) == 0 && len(numerals.In(decision)) == 0
}

// sameSubject reports whether an entry about a replaced name says little else that would be lost with it.
func (r replacement) sameSubject(earlier, name string) bool {
	names := contentStems(name)
	others, shared := 0, 0
	for w := range subjectOf(earlier) {
		if names[w] || generic[w] {
			continue
		}
		if others++; r.content.stems[w] {
			shared++
		}
	}
	return others <= 1 || 2*shared >= others
}

// generic are the stems of words that occur in any decision.
var generic = lexical.Set("decid choos chos agre will stor keep entsc verwe nutze nutz nehm")

// subjectOf is the subject of a statement: its words without numbers and names of days and months.
func subjectOf(statement string) map[string]bool {
	words := contentStems(statement)
	for w := range words {
		if strings.ContainsFunc(w, unicode.IsNumber) || monthStems[w] {
			delete(words, w)
		}
	}
	return words
}

var monthStems = func() map[string]bool {
	set := map[string]bool{}
	for name := range calendar {
		if name != "deadline" && name != "birthday" && name != "anniversary" {
			set[stem(root(name))] = true
		}
	}
	return set
}()

func containsWord(text, word string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], word)
		if i < 0 {
			return false
		}
		begin, end := at+i, at+i+len(word)
		if !insideWord(text[:begin], true) && !insideWord(text[end:], false) {
			return true
		}
		at = end
	}
}

// insideWord reports whether a letter or digit touches the position between two texts.
func insideWord(side string, before bool) bool {
	r, _ := utf8.DecodeRuneInString(side)
	if before {
		r, _ = utf8.DecodeLastRuneInString(side)
	}
	return r < 0x2E80 && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// dropReplaced drops the entries that a new statement replaces.
func (d *draft) dropReplaced(statement string) {
	r := replacementBy(statement)
	if !r.change && len(r.names) == 0 {
		return
	}
	for _, sec := range []Section{Facts, Decisions, Constraints, Artifacts} {
		for i := range d.entries[sec] {
			if e := &d.entries[sec][i]; !e.removed && r.replaces(sec, e.text) {
				d.drop(sec, e.text)
			}
		}
	}
}
