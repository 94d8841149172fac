package librarian

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"contextinfinity/backend/internal/cues"
)

// task is a kind of summary: its prompts and what an answer must look like.
type task struct {
	prompt   string
	headings []Section // that may stand in an answer
	again    bool      // an error is worth another try
	slack    float64   // how much over its target an answer may be, as a factor
}

var (
	updateTask = task{prompt: "update", headings: []Section{Facts, Decisions, Constraints, Artifacts, OpenTasks, LastExchange}, slack: 1}
	rangeTask  = task{
		prompt: "range", headings: []Section{Happened, Decisions, Constraints, Facts, Artifacts, OpenTasks}, again: true, slack: 1.25,
	}
)

// criticalShare: what must be kept is chosen so that it takes one part in so many
// of the target. A check that no summary of that size could pass is none.
const criticalShare = 3

// maxMissing bounds how many missing entities a retry names.
const maxMissing = 30

// need is something that must stand in a summary.
type need struct {
	sec  Section
	text string
}

// critical is what the earlier summary and the user's words hold that must not be
// lost: decisions, constraints, measured facts, and names of things (SRD 10.2), as
// much of it as a part of the target can hold, the most important and newest.
func critical(previous string, ps []passage, r *run) []need {
	d := newDraft(r.pins)
	d.takeSummary(Parse(previous))
	for _, p := range ps {
		switch p.role {
		case "user":
			d.takeText("user", p.text)
		case "summary":
			d.takeSummary(Parse(strings.ReplaceAll(p.text, artifactSeparator, "\n- ")))
		}
	}
	whole := d.summary()
	whole.entries[LastExchange], whole.entries[Happened], whole.entries[OpenTasks] = nil, nil, nil
	whole.entries[Facts] = slices.DeleteFunc(whole.entries[Facts], func(s string) bool { return !measured(s) })
	few, _, _ := trim(whole, r.target/criticalShare, r.count)
	var out []need
	for _, sec := range []Section{Constraints, Decisions, Artifacts, Facts} {
		for _, e := range few.entries[sec] {
			if !strings.Contains(e, pinnedMark) && !strings.HasPrefix(e, assistantMark) {
				out = append(out, need{sec, strings.ReplaceAll(e, `\`, "")})
			}
		}
	}
	return out
}

// examine reads a model's answer. problem says why it is rejected; missing what
// it lost.
func (r *run) examine(answer, previous string, ps []passage, required []need) (text string, missing []string, problem string) {
	answer = unwrap(answer)
	if problem = r.shape(answer); problem != "" {
		return "", nil, problem
	}
	if echoes(answer, ps) {
		return "", nil, "it repeats what it was given"
	}
	if foreign(answer, previous, ps) {
		return "", nil, "it is not about the conversation"
	}
	if text = r.accept(answer); text == "" {
		return "", nil, "nothing stands under its headings"
	}
	input := r.count(previous) + r.count(renderPassages(ps))
	tokens := r.count(text)
	if input > r.target && tokens >= input {
		return "", nil, "it is not shorter than what it was made from"
	}
	if text, problem = r.shorten(text, tokens); problem != "" {
		return "", nil, problem
	}
	for _, n := range required {
		if !n.standsIn(text) && len(missing) < maxMissing {
			missing = append(missing, n.text)
		}
	}
	if len(missing) > 0 {
		return "", missing, "it lost what must be kept"
	}
	return text, nil, ""
}

// shorten brings an answer over its target down. A state is shortened, by the
// model once and else by rule; a range is tried again.
func (r *run) shorten(text string, tokens int) (string, string) {
	if float64(tokens) <= float64(r.target)*r.kind.slack {
		return text, ""
	}
	if r.kind.prompt != updateTask.prompt {
		return "", "it is longer than it may be"
	}
	if short, ok := r.askShorter(text); ok {
		return short, ""
	}
	return Trim(text, r.target, r.count), ""
}

// askShorter is SRD 10.4: the shrink prompt, once.
func (r *run) askShorter(text string) (string, bool) {
	q := question{Target: r.target, Previous: escape(strings.TrimSpace(text))}
	answer, err := r.ask(render("shrink.system", q), render("shrink", q))
	if err != nil {
		return "", false
	}
	answer = unwrap(answer)
	if r.shape(answer) != "" || foreign(answer, text, nil) {
		return "", false
	}
	short := r.accept(answer)
	return short, short != "" && r.count(short) <= r.target
}

var thinking = regexp.MustCompile(`(?s)^\s*<think(?:ing)?>.*?</think(?:ing)?>`)

// unwrap removes what models put around an answer: their thoughts and a fence.
func unwrap(answer string) string {
	if len(answer) > maxParse {
		answer = answer[:maxParse]
	}
	answer = strings.TrimSpace(thinking.ReplaceAllLiteralString(strings.ToValidUTF8(answer, ""), ""))
	if first, rest, ok := strings.Cut(answer, "\n"); ok && strings.HasPrefix(first, "```") && strings.HasSuffix(rest, "```") {
		answer = strings.TrimSpace(strings.TrimSuffix(rest, "```"))
	}
	return unescaper.Replace(answer)
}

// refusals begin an answer that is none.
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
		title, ok := headingText(oneLine(line)) // as it would be kept
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

// accept is an answer as it is kept: entries made safe, said once, pinned facts
// left out.
func (r *run) accept(answer string) string {
	if r.kind.prompt != updateTask.prompt {
		return acceptRange(answer)
	}
	d := newDraft(r.pins)
	d.takeSummary(Parse(answer).withoutExchange())
	s := d.summary()
	for sec := range sectionCount {
		s.entries[sec] = slices.DeleteFunc(s.entries[sec], saysNothing)
	}
	if s.isEmpty() {
		return ""
	}
	return s.Render()
}

// nothings are what models write under a heading without entries.
var nothings = setOf("none nothing na empty keine nichts aucun aucune ninguno nada нет 无 なし")

// saysNothing reports an entry that holds no more than a mark or a "none".
func saysNothing(entry string) bool {
	return nothings[key(Facts, entry)] || strings.Contains(entry, pinnedMark) && len(entry) < 2*len(pinnedMark)
}

func (s Summary) isEmpty() bool {
	for _, list := range s.entries {
		if len(list) > 0 {
			return false
		}
	}
	return true
}

// acceptRange keeps a range's prose, each line made one safe line.
func acceptRange(answer string) string {
	var b strings.Builder
	content := false
	for line := range strings.Lines(answer) {
		line = oneLine(line)
		if title, ok := headingText(line); ok {
			sec, _ := sectionOf(title)
			b.WriteString("## " + sec.Heading() + "\n")
			continue
		}
		if line = escapeTags(line); line == "" || saysNothing(line) {
			continue
		}
		content = true
		b.WriteString(line + "\n")
	}
	if !content {
		return ""
	}
	return b.String()
}

// echoBytes is from which length a message that stands in an answer word for word
// is taken for an echo.
const echoBytes = 400

// echoes reports an answer that gives back its input.
func echoes(answer string, ps []passage) bool {
	for _, mark := range []string{"<conversation>", "<user", "<assistant", "<memory>", "</user>"} {
		if strings.Contains(answer, mark) && !strings.Contains(renderRaw(ps), mark) {
			return true
		}
	}
	flat := oneLine(answer)
	for _, p := range ps {
		if text := oneLine(p.text); len(text) > echoBytes && p.role != "summary" && strings.Contains(flat, text) {
			return true
		}
	}
	return false
}

func renderRaw(ps []passage) string {
	var b strings.Builder
	for _, p := range ps {
		b.WriteString(p.text + "\n")
	}
	return b.String()
}

// foreignShare is the least part of an answer's words that its input must have.
const foreignShare = 0.4

// foreign reports an answer whose words are not those of its input.
func foreign(answer, previous string, ps []passage) bool {
	known := stems(previous + "\n" + renderRaw(ps))
	var lines []string
	for line := range strings.Lines(answer) {
		if _, ok := headingText(strings.TrimSpace(line)); !ok {
			lines = append(lines, line)
		}
	}
	said := stems(strings.Join(lines, "\n"))
	shared := 0
	for s := range said {
		if known[s] {
			shared++
		}
	}
	return len(said) >= 4 && float64(shared) < foreignShare*float64(len(said))
}

// stemRunes is how much of a word is compared: enough to tell words apart, and
// little enough to know one again in another form.
const stemRunes = 5

// stems are the beginnings of a text's words of some length, and pairs of letters
// of scripts without spaces.
func stems(text string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }) {
		runes := []rune(strings.ToLower(w))
		switch {
		case strings.ContainsFunc(w, cues.Unspaced):
			for i := 0; i+1 < len(runes); i++ {
				out[string(runes[i:i+2])] = true
			}
		case len(runes) >= 4 || unicode.IsNumber(runes[0]):
			out[string(runes[:min(len(runes), stemRunes)])] = true
		}
	}
	return out
}

// keptShare is how much of a statement's words must stand in one entry, and
// nameShare how much of the names in it.
const (
	keptShare = 0.5
	nameShare = 2.0 / 3
)

// standsIn reports that a summary still says what was needed: names character by
// character; statements by most of their words in one line, with their numbers and
// with their no.
func (n need) standsIn(text string) bool {
	if n.sec == Artifacts {
		return strings.Contains(strings.ReplaceAll(text, `\`, ""), n.text)
	}
	words, names := stems(n.text), nameStems(n.text)
	if len(words) == 0 {
		return true
	}
	for line := range strings.Lines(text) {
		if n.saidBy(line, words, names) {
			return true
		}
	}
	return false
}

// nameStems are the stems of a statement's names: words that begin with a capital,
// but for the first.
func nameStems(text string) map[string]bool {
	_, rest, _ := strings.Cut(text, " ")
	var names []string
	for _, w := range strings.Fields(rest) {
		if isName(strings.TrimLeft(w, "\"'(“„«")) && !own[strings.ToLower(w)] {
			names = append(names, w)
		}
	}
	return stems(strings.Join(names, " "))
}

func (n need) saidBy(line string, words, names map[string]bool) bool {
	there := stems(line)
	shared, named := 0, 0
	for w := range names {
		if there[w] {
			named++
		}
	}
	if float64(named) < nameShare*float64(len(names)) {
		return false
	}
	for w := range words {
		first, _ := utf8.DecodeRuneInString(w)
		switch {
		case there[w]:
			shared++
		case unicode.IsNumber(first):
			return false
		}
	}
	return float64(shared) >= keptShare*float64(len(words)) && (!negated(n.text) || negated(line))
}

// negations are the words whose loss turns a statement into its opposite.
var negations = setOf(`never no not none nor without don't doesn't didn't mustn't can't cannot won't isn't aren't shouldn't shan't forbidden prohibited
	avoid except nie niemals nicht kein keine keinen ohne verboten jamais pas ne non sans interdit nunca no jamás sin prohibido não nunca jamais sem
	mai non senza vietato nooit niet geen nigdy nie bez не никогда нельзя без ні ніколи`)

var joinedNegations = []string{"不", "没", "沒", "禁", "绝", "絕", "ない", "ません", "禁止", "않", "못", "금지", "말"}

func negated(text string) bool {
	words, ends := cues.Words(text)
	start := 0
	for _, end := range ends {
		if negations[words[start:end]] {
			return true
		}
		start = end + 1
	}
	for _, mark := range joinedNegations {
		if strings.Contains(text, mark) {
			return true
		}
	}
	return false
}
