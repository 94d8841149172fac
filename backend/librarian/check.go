package librarian

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/display"
	"contextinfinity/backend/internal/intent"
	"contextinfinity/backend/internal/lexical"
	"contextinfinity/backend/internal/pattern"
)

// task is a kind of summary: its prompts and the required form of an answer.
type task struct {
	prompt   string
	headings []Section // allowed in an answer
	retry    bool      // whether to retry after an error
	slack    float64   // the factor by which an answer may exceed its target
	layout   layout
}

var (
	updateTask = task{
		prompt: "update", headings: []Section{Facts, Decisions, Constraints, Artifacts, OpenTasks, LastExchange}, slack: 1, layout: stateLayout,
	}
	rangeTask = task{
		prompt: "range", headings: []Section{Happened, Decisions, Constraints, Facts, Artifacts, OpenTasks}, retry: true, slack: 1.25,
		layout: rangeLayout,
	}
)

// requiredShare: the required entries take at most a third of the target, so that a summary of the target size can
// contain them.
const requiredShare = 3

// maxMissing is the maximum number of missing entries named in a retry.
const maxMissing = 60

// need is something that a summary must contain.
type need struct {
	sec  Section
	text string
}

// plain is its text without Markdown escaping.
func (n need) plain() string { return strings.ReplaceAll(n.text, `\`, "") }

// needs returns the entries that must not be lost (SRD 10.2): the decisions, constraints and artifacts of the earlier
// summary that still apply, the user's new statements, and the names that belong to the new turns' work, the most
// important and newest first, as far as they fit into a part of the target: the oldest names are forgotten first. Facts of
// the earlier summary may be dropped.
func (r *run) needs(previous string, ps []passage) []need {
	d := newDraft(r.pins)
	d.takeSummary(Parse(previous).persistent())
	asked := ""
	for _, p := range ps {
		switch p.role {
		case "user":
			asked = p.text
			d.takeText(chat.RoleUser, p.text, "")
		case "assistant":
			d.takeNames(p.text, asked)
		case "summary":
			piece := Parse(strings.ReplaceAll(p.text, artifactSeparator, "\n- "))
			persistent := piece.persistent()
			persistent.entries[Facts] = slices.DeleteFunc(piece.entries[Facts], func(s string) bool { return !measured(s) })
			d.takeSummary(persistent)
		}
	}
	all := d.summary()
	all.entries[LastExchange], all.entries[Happened], all.entries[OpenTasks] = nil, nil, nil
	all.entries[Artifacts] = slices.DeleteFunc(all.entries[Artifacts], func(name string) bool { return d.inCode[name] })
	trimmed, _, _ := stateLayout.trim(all, r.target/requiredShare, r.count)
	var out []need
	for _, sec := range []Section{Constraints, Decisions, Artifacts, Facts} {
		for _, e := range trimmed.entries[sec] {
			if !strings.Contains(e, pinnedMark) && (sec == Artifacts || tierOf(sec, e) <= 1) {
				out = append(out, need{sec, e})
			}
		}
	}
	return out
}

// persistent is the part of a summary that its successor must keep.
func (s Summary) persistent() Summary {
	var out Summary
	out.entries[Decisions], out.entries[Constraints] = s.entries[Decisions], s.entries[Constraints]
	for _, e := range s.entries[Artifacts] {
		if slices.ContainsFunc(strings.Fields(e), func(w string) bool { return artifactKind(strings.Trim(w, "`'\"(),;:")) != "" }) {
			out.entries[Artifacts] = append(out.entries[Artifacts], e)
		}
	}
	return out
}

// missingFrom lists the required entries that a summary lacks.
func missingFrom(s Summary, required []need) []need {
	var text strings.Builder
	for sec, list := range s.entries {
		if Section(sec) != LastExchange {
			text.WriteString(strings.Join(list, "\n") + "\n")
		}
	}
	e := evidenceOf(text.String())
	var out []need
	for _, n := range required {
		contains := e.states
		if n.sec == Artifacts {
			contains = e.containsName
		}
		if !contains(n.plain()) {
			out = append(out, n)
		}
	}
	return out
}

// attempt is a model's valid answer, and the required entries that it lacks.
type attempt struct {
	summary Summary
	answer  string
	missing []need
}

// validate parses a model's answer. problem says why it cannot be used at all: it is not a summary, or not of this
// conversation.
func (r *run) validate(answer, previous string, ps []passage, required []need) (a attempt, problem string) {
	title, answer := r.takeTitle(unwrap(answer))
	if problem = r.shape(answer); problem != "" {
		return a, problem
	}
	if repeatsInput(answer, ps) {
		return a, "it repeats what it was given"
	}
	if repeatsItself(answer) {
		return a, "it repeats itself"
	}
	if offTopic(answer, previous, ps) {
		return a, "it is not about the conversation"
	}
	s := r.accept(answer)
	if s.isEmpty() {
		return a, "there is nothing under its headings"
	}
	s = r.shorten(s.byAge(Parse(previous)))
	r.title = cmp.Or(title, r.title)
	return attempt{summary: s, answer: answer, missing: missingFrom(s, required)}, ""
}

// byAge sorts the entries by age, oldest first: a model writes them in any order, but entries that are not in the
// earlier summary are new.
func (s Summary) byAge(earlier Summary) Summary {
	for sec := range sectionCount {
		if sec == Happened {
			continue // prose
		}
		age := map[string]int{}
		for i, e := range earlier.entries[sec] {
			age[key(sec, e)] = i + 1
		}
		slices.SortStableFunc(s.entries[sec], func(a, b string) int {
			return ageOf(age, key(sec, a)) - ageOf(age, key(sec, b))
		})
	}
	return s
}

func ageOf(age map[string]int, k string) int {
	if n := age[k]; n > 0 {
		return n
	}
	return len(age) + 1
}

// shorten reduces an answer that exceeds its target: a state summary is shortened by the model once, everything else by
// rule, the oldest and least important entries first.
func (r *run) shorten(s Summary) Summary {
	text := r.kind.layout.render(s)
	if float64(r.count(text)) <= float64(r.target)*r.kind.slack {
		return s
	}
	if r.kind.prompt == updateTask.prompt {
		if short, ok := r.askShorter(text); ok {
			return Parse(short)
		}
	}
	short, _, _ := r.kind.layout.trim(s, r.target, r.count)
	r.recordDropped(s, short)
	return short
}

// muchMissing reports whether enough was lost to justify another try.
func muchMissing(missing, required []need) bool {
	return len(missing) > retryMissing && 3*len(missing) > 2*len(required)
}

// retryMissing is the number of missing entries up to which they are always added by rule.
const retryMissing = 5

// repair adds the entries that an answer lost under their headings, in the original words. The target still applies:
// the most important entries are dropped last.
func (r *run) repair(a attempt) (Summary, []string) {
	d := newDraft(r.pins)
	d.takeSummary(a.summary)
	for _, n := range a.missing {
		d.note(n.sec, n.text)
	}
	all := d.summary()
	// Added entries must fit into the target. Only the model's own text may make a range's summary slightly longer.
	limit := max(r.target, r.count(r.kind.layout.render(a.summary)))
	s, _, _ := r.kind.layout.trim(all, limit, r.count)
	r.recordDropped(all, s)
	var added []string
	for _, n := range a.missing {
		if slices.Contains(s.entries[n.sec], n.text) {
			added = append(added, n.plain())
		}
	}
	return s, added
}

// recordDropped records the entries that a summary lost because of its target.
func (r *run) recordDropped(all, kept Summary) {
	dropped, n := missing(all, kept)
	r.dropped = append(r.dropped, dropped[:min(len(dropped), maxDropped-len(r.dropped))]...)
	r.droppedCount += n
}

// askShorter runs the shrink prompt of SRD 10.4 once.
func (r *run) askShorter(text string) (string, bool) {
	q := question{Target: r.target, Previous: escape(strings.TrimSpace(text))}
	answer, err := r.ask(render("shrink.system", q), render("shrink", q))
	if err != nil {
		return "", false
	}
	answer = unwrap(answer)
	if r.shape(answer) != "" || offTopic(answer, text, nil) {
		return "", false
	}
	short := r.accept(answer)
	text = short.Render()
	return text, !short.isEmpty() && r.count(text) <= r.target
}

var thinking = pattern.New(`(?s)^\s*<think(?:ing)?>.*?</think(?:ing)?>`)

// unwrap removes what models put around an answer: their reasoning and a code fence.
func unwrap(answer string) string {
	if len(answer) > maxParse {
		answer = answer[:maxParse]
	}
	answer = strings.TrimSpace(thinking().ReplaceAllLiteralString(strings.ToValidUTF8(answer, ""), ""))
	if first, rest, ok := strings.Cut(answer, "\n"); ok && strings.HasPrefix(first, "```") && strings.HasSuffix(rest, "```") {
		answer = strings.TrimSpace(strings.TrimSuffix(rest, "```"))
	}
	return unescaper.Replace(answer)
}

// refusals begin an answer that is a refusal.
var refusals = []string{"i'm sorry", "i am sorry", "sorry,", "i can't", "i cannot", "i'm unable", "i am unable", "as an ai", "i won't"}

// shape checks an answer's headings: at least one, none unknown, none twice.
func (r *run) shape(answer string) string {
	if strings.TrimSpace(answer) == "" {
		return "it is empty"
	}
	lower := strings.ReplaceAll(strings.ToLower(clip(answer, 60)), "’", "'")
	for _, words := range refusals {
		if strings.HasPrefix(lower, words) {
			return "it declines"
		}
	}
	seen := map[Section]bool{}
	for line := range strings.Lines(answer) {
		title, ok := headingText(display.OneLine(line)) // as it would be stored
		if !ok {
			continue
		}
		sec, known := sectionOf(title)
		if !known || seen[sec] || !slices.Contains(r.kind.headings, sec) {
			return "it has a heading that does not belong, or one twice"
		}
		seen[sec] = true
	}
	if len(seen) == 0 {
		return "it has none of the headings"
	}
	return ""
}

// accept normalizes an answer: entries made safe, duplicates and pinned facts removed.
func (r *run) accept(answer string) Summary {
	d := newDraft(r.pins)
	d.takeSummary(Parse(answer).withHeadings(r.kind.headings))
	s := d.summary()
	for sec := range sectionCount {
		s.entries[sec] = slices.DeleteFunc(s.entries[sec], isEmptyEntry)
	}
	return s
}

// withHeadings is the part of a summary under the given headings, without the sections that only a fallback writes.
func (s Summary) withHeadings(headings []Section) Summary {
	var out Summary
	for _, sec := range headings {
		if sec != LastExchange {
			out.entries[sec] = s.entries[sec]
		}
	}
	return out
}

// emptyEntries are placeholders that models write under a heading without entries.
var emptyEntries = lexical.Set("none nothing na empty keine nichts aucun aucune ninguno nada нет 无 なし")

// isEmptyEntry reports whether an entry is only a mark or a "none".
func isEmptyEntry(entry string) bool {
	return emptyEntries[key(Facts, entry)] || strings.Contains(entry, pinnedMark) && len(entry) < 2*len(pinnedMark)
}

func (s Summary) isEmpty() bool {
	for _, list := range s.entries {
		if len(list) > 0 {
			return false
		}
	}
	return true
}

// echoBytes is the length from which a message that occurs verbatim in an answer counts as an echo.
const echoBytes = 400

// repeatsInput reports whether an answer repeats its input.
func repeatsInput(answer string, ps []passage) bool {
	for _, mark := range []string{"<conversation>", "<user", "<assistant", "<memory>", "</user>"} {
		if strings.Contains(answer, mark) && !strings.Contains(renderRaw(ps), mark) {
			return true
		}
	}
	flat := display.OneLine(answer)
	for _, p := range ps {
		if text := display.OneLine(p.text); len(text) > echoBytes && p.role != "summary" && strings.Contains(flat, text) {
			return true
		}
	}
	return false
}

// loopSentences is the minimum number of sentences of an answer that is rejected if at most half of them are distinct.
const loopSentences = 8

// repeatsItself reports whether an answer repeats itself over and over.
func repeatsItself(answer string) bool {
	all, distinct := 0, map[string]bool{}
	for b := range intent.Blocks(answer) {
		for s := range intent.Sentences(answer, b.Span) {
			all++
			distinct[answer[s.Start:s.End]] = true
		}
	}
	return all >= loopSentences && 2*len(distinct) <= all
}

func renderRaw(ps []passage) string {
	var b strings.Builder
	for _, p := range ps {
		b.WriteString(p.text + "\n")
	}
	return b.String()
}

// knownShare is the minimum share of an answer's words that must occur in its input.
const knownShare = 0.4

// offTopic reports whether most words of an answer do not occur in its input.
func offTopic(answer, previous string, ps []passage) bool {
	inputStems := stems(previous + "\n" + renderRaw(ps))
	var lines []string
	for line := range strings.Lines(answer) {
		if _, ok := headingText(strings.TrimSpace(line)); !ok {
			lines = append(lines, line)
		}
	}
	answerStems := stems(strings.Join(lines, "\n"))
	shared := 0
	for s := range answerStems {
		if inputStems[s] {
			shared++
		}
	}
	return len(answerStems) >= 4 && float64(shared) < knownShare*float64(len(answerStems))
}

// stemRunes is how many characters of a word are compared: enough to distinguish words, and few enough to match other
// forms.
const stemRunes = 5

// addPairs adds the parts of a mixed word to a set, those of scripts without spaces as pairs of characters.
func addPairs(set map[string]bool, word string) {
	for _, w := range lexical.Words(word) {
		for _, pair := range lexical.Pairs(w) {
			set[pair] = true
		}
	}
}

// stems returns the beginnings of a text's longer words, and pairs of characters in scripts without spaces.
func stems(text string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !lexical.IsUnspaced(r) }) {
		runes := []rune(strings.ToLower(w))
		switch {
		case strings.ContainsFunc(w, lexical.IsUnspaced):
			addPairs(out, w)
		case len(runes) >= 4 || unicode.IsNumber(runes[0]):
			out[stem(string(runes))] = true
		}
	}
	return out
}
