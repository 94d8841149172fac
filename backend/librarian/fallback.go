package librarian

import (
	"encoding/json"
	"strings"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/display"
	"contextinfinity/backend/internal/intent"
)

// DefaultTarget is librarian.target_tokens (SPEC 16).
const DefaultTarget = 1200

// recallProvider answers with quotations from the whole memory, other sessions'
// too. Its answers never enter a summary, which goes to other providers.
const recallProvider = "recall"

// excerptBytes bounds each side of the last exchange.
const excerptBytes = 300

// Limits of what one message may add. People say what counts; an assistant's
// long answer is full of "must" and names.
var messageLimits = map[chat.Role]struct{ statements, artifacts int }{
	chat.RoleUser:      {statements: 24, artifacts: 40},
	chat.RoleAssistant: {statements: 8, artifacts: 12},
}

// Update is what a librarian works from: an earlier summary and the turns that
// came since, oldest first.
type Update struct {
	Previous string // Markdown; empty at the root
	Pins     []chat.Pin
	Turns    []chat.Turn
	Target   int              // tokens; 0: DefaultTarget
	Count    func(string) int // nil: four bytes a token

	// Model, if there is one, is asked by Librarian.Update. It is given the newest
	// summary that a model made and every turn since, and never a fallback's text;
	// without ModelTurns, Previous and Turns are those.
	Model         Model
	ModelPrevious string
	ModelTurns    []chat.Turn
	Titled        bool // it is asked for a title of the conversation too
}

// Result is a new summary. Tokens is at most the update's target.
type Result struct {
	Summary    string
	Tokens     int
	Origin     chat.StateOrigin
	Model      string // that made it; empty for the fallback
	Validation json.RawMessage
	Usage      *chat.Usage // of every call, also of those that came to nothing
	Tries      int         // calls of the model
	Title      string      // empty: none was asked for, or given

	made Validation
}

// Validation is stored with a state: what was found and the outcome of it,
// entries by heading.
type Validation struct {
	Method       string         `json:"method"`
	Turns        int            `json:"turns"`
	TargetTokens int            `json:"target_tokens"`
	Tokens       int            `json:"tokens"`
	Found        map[string]int `json:"found"`
	Kept         map[string]int `json:"kept"`
	DroppedCount int            `json:"dropped_count"`
	Dropped      []string       `json:"dropped"` // the most important of them

	// What follows is of a run with a model. Required is how many entities had to be kept, and
	// RequiredKept how many were before anything was added; Reason says why the last answer that was not
	// used was not; Missing is what the summary lacked; Asked, the model that the fallback replaces.
	Tries        int      `json:"tries,omitempty"`
	Required     int      `json:"required,omitempty"`
	RequiredKept int      `json:"required_kept,omitempty"`
	Reason       string   `json:"reason,omitempty"`
	Missing      []string `json:"missing,omitempty"`
	Asked        string   `json:"asked,omitempty"`
	// Added is what of it was added by rule, and is in the summary.
	Added []string    `json:"added,omitempty"`
	Usage *chat.Usage `json:"usage,omitempty"`
}

// maxDropped bounds the list in a Validation.
const maxDropped = 40

// Fallback brings a summary up to date without a model (SRD 10.3): earlier
// entries and what the new turns decided, demanded, named and left open are
// kept, said once, the newest mention counting; a short excerpt of the last
// exchange is appended; the oldest of the least important goes until it fits.
// Without turns it changes nothing in a summary of its own that fits. A target
// too small for the bare headings gives an empty summary.
func Fallback(u Update) Result {
	if u.Target <= 0 {
		u.Target = DefaultTarget
	}
	u.Count = counting(u.Count)
	d := newDraft(u.Pins)
	d.now = saidAt(u.Turns)
	previous := settlePlans(Parse(u.Previous), d.now)
	if len(u.Turns) > 0 {
		previous.entries[LastExchange] = excerpt(u.Turns[len(u.Turns)-1], newMask(u.Pins))
	}
	d.takeSummary(previous)
	for _, t := range u.Turns {
		d.takeTurn(t)
	}
	whole := d.summary()
	kept, text, tokens := stateLayout.at(d.now).trim(whole, u.Target, u.Count)
	v := Validation{
		Method: string(chat.StateFallback), Turns: len(u.Turns), TargetTokens: u.Target, Tokens: tokens,
		Found: whole.sizes(), Kept: kept.sizes(),
	}
	v.Dropped, v.DroppedCount = missing(whole, kept)
	validation, _ := chat.MarshalJSON(v) // plain strings and numbers always encode
	return Result{Summary: text, Tokens: tokens, Origin: chat.StateFallback, Validation: validation, made: v}
}

// draft gathers entries, each said once, the latest mention last.
type draft struct {
	entries [sectionCount][]noted
	at      map[string]spot // by what they say
	pinned  map[string]bool
	inCode  map[string]bool // names that occur only in code
	now     time.Time       // of the newest turn; zero if unknown
}

type spot struct {
	sec   Section
	index int
}

type noted struct {
	text string
	gone bool // said again later, or done
	said repeated
}

func newDraft(pins []chat.Pin) *draft {
	d := &draft{at: map[string]spot{}, pinned: map[string]bool{}, inCode: map[string]bool{}}
	for _, p := range pins {
		d.pinned[key(Facts, plainLine(p.Text))] = true
		for line := range strings.Lines(p.Text) {
			for span := range intent.Sentences(line, intent.Span{End: len(line)}) {
				s := line[span.Start:span.End]
				d.pinned[key(Facts, plainLine(s))], d.pinned[key(Facts, plainLine(plainly(s)))] = true, true
			}
		}
	}
	return d
}

// note adds an entry, or moves the one that says the same to the end of the
// section that has it: a decision that is repeated stays a decision.
func (d *draft) note(sec Section, text string) {
	text = plainLine(text)
	if text == "" || (sec != Artifacts && d.pinned[key(Facts, text)]) {
		return
	}
	if at, ok := d.drop(sec, text); ok {
		sec = at
	}
	said := d.dropRepeated(sec, text)
	d.at[meaning(sec, text)] = spot{sec, len(d.entries[sec])}
	d.entries[sec] = append(d.entries[sec], noted{text: text, said: said})
}

// dropRepeated removes the entries of a section that a new one repeats in other words.
func (d *draft) dropRepeated(sec Section, text string) repeated {
	if !comparable(sec) || strings.HasPrefix(text, assistantMark) {
		return repeated{}
	}
	said, share := repeatedOf(text), repeatShareOf(sec, text)
	list := d.entries[sec]
	for i := max(len(list)-maxCompared, 0); i < len(list); i++ {
		if e := &list[i]; !e.gone && said.repeats(e.said, share) {
			d.drop(sec, e.text)
		}
	}
	return said
}

// drop removes the entry that says the same, and tells where it stood.
func (d *draft) drop(sec Section, text string) (Section, bool) {
	k := meaning(sec, text)
	at, ok := d.at[k]
	if ok {
		d.entries[at.sec][at.index].gone = true
		delete(d.at, k)
	}
	return at.sec, ok
}

// meaning is equal for entries of which one is enough. Statements are compared
// over all sections, names and the last exchange among themselves.
func meaning(sec Section, text string) string {
	switch sec {
	case Artifacts:
		return "name " + nameKey(text)
	case LastExchange:
		return "last " + key(sec, text)
	}
	return "statement " + key(sec, text)
}

// nameKey is equal for a call with and without its arguments, an address with and without
// its scheme, and a name with and without marks.
func nameKey(name string) string {
	name = strings.NewReplacer("`", "", `\`, "", "https://", "", "http://", "").Replace(name)
	if call, _, ok := strings.Cut(name, "("); ok && call != "" && strings.HasSuffix(name, ")") && only(call, isWordRune, ".:#$") {
		return call
	}
	return strings.TrimRight(name, "/")
}

func (d *draft) takeSummary(s Summary) {
	for sec := range sectionCount {
		for _, e := range s.entries[sec] {
			d.note(sec, e)
		}
	}
}

func (d *draft) takeTurn(t chat.Turn) {
	asked := longEnds(namingDocuments(t.User))
	d.takeText(t.User.Role, asked, "")
	if t.Assistant != nil && t.Provider != recallProvider {
		d.takeText(t.Assistant.Role, longEnds(namingDocuments(*t.Assistant)), asked)
	}
}

// takeText takes what a message says; asked is what the user said in its turn.
func (d *draft) takeText(role chat.Role, text, asked string) {
	for _, e := range remembered(role, text, asked) {
		if e.Kind == KindDone {
			d.finish(plainLine(e.Text))
			continue
		}
		if role == chat.RoleUser && sectionFor(e.Kind) != Artifacts {
			d.forgetReplaced(e.Text)
		}
		if role == chat.RoleUser && e.Kind == KindFact && isPlan(e.Text, d.now) {
			e.Kind = KindTask
		}
		d.note(sectionFor(e.Kind), e.Text)
		if e.inCode && e.Kind == KindSymbol {
			d.inCode[plainLine(e.Text)] = true
		}
	}
}

// remembered is what of a message a summary is made of, the statements before the names. What
// the assistant says is an answer with numbers or dates, marked as its own, or nothing: its advice
// binds nobody, its check lists are proposals, and its plans are the user's only when the user says so.
// Of the names in it those count that only work has, or that the user used in asking for it.
func remembered(role chat.Role, text, asked string) []Entity {
	var statements, artifacts []Entity
	by := assistant
	if role == chat.RoleUser {
		by = user
	}
	for _, e := range read(text, by) {
		switch {
		case sectionFor(e.Kind) == Artifacts:
			if !isPlaceholder(e.Text) {
				artifacts = append(artifacts, e)
			}
			continue
		case e.Kind == KindDone:
		case role == chat.RoleUser:
			e.Text = plainly(e.Text)
		case isSample(e.Text):
			continue
		case measured(e.Text) && !intent.IsStanding(e.Text) && !strings.HasSuffix(e.Text, ":"):
			e.Kind, e.Text = KindFact, clipLine(assistantMark+plainly(e.Text), maxEntry)
		default:
			continue
		}
		statements = append(statements, e)
	}
	if role != chat.RoleUser {
		artifacts = settledNames(artifacts, asked)
	}
	limit := messageLimits[role]
	return append(ends(statements, limit.statements), ends(artifacts, limit.artifacts)...)
}

// finish drops an open task, and nothing that is not one.
func (d *draft) finish(task string) {
	if at, ok := d.at[meaning(OpenTasks, task)]; ok && at.sec == OpenTasks {
		d.drop(OpenTasks, task)
	}
}

func sectionFor(k Kind) Section {
	switch k {
	case KindDecision:
		return Decisions
	case KindConstraint:
		return Constraints
	case KindTask, KindDone:
		return OpenTasks
	case KindPath, KindSymbol, KindID, KindURL:
		return Artifacts
	}
	return Facts
}

// ends keeps n entities, half from the beginning and half from the end: what a
// long paste is about is before or after it.
func ends(list []Entity, n int) []Entity {
	if len(list) <= n {
		return list
	}
	head := (n + 1) / 2
	return append(list[:head:head], list[len(list)-(n-head):]...)
}

// excerpt is the last exchange in two lines, without what is pinned.
func excerpt(t chat.Turn, pinned mask) []string {
	var lines []string
	if user := beginning(t.User, pinned); user != "" {
		lines = append(lines, "User: "+user)
	}
	switch {
	case t.Assistant == nil:
	case t.Provider == recallProvider:
		lines = append(lines, "Assistant: (quoted from memory)")
	default:
		if answer := beginning(*t.Assistant, pinned); answer != "" {
			lines = append(lines, "Assistant: "+answer)
		}
	}
	return lines
}

func beginning(m chat.Message, pinned mask) string {
	text := namingDocuments(m)
	if len(text) > 4*excerptBytes {
		text = text[:4*excerptBytes]
	}
	return clipLine(pinned.hide(display.OneLine(text)), excerptBytes)
}

func (d *draft) summary() Summary {
	var s Summary
	for sec, list := range d.entries {
		for _, e := range list {
			if !e.gone {
				s.entries[sec] = append(s.entries[sec], e.text)
			}
		}
	}
	return s
}

// sizes counts entries by heading.
func (s Summary) sizes() map[string]int {
	n := map[string]int{}
	for sec := range sectionCount {
		if sec != Happened {
			n[sec.Heading()] = len(s.entries[sec])
		}
	}
	return n
}

// missing lists what is in whole and not in kept, the most important first.
func missing(whole, kept Summary) ([]string, int) {
	list, n := []string{}, 0
	for _, sec := range importance {
		still := map[string]bool{}
		for _, e := range kept.entries[sec] {
			still[e] = true
		}
		for _, e := range whole.entries[sec] {
			if still[e] {
				continue
			}
			if n++; len(list) < maxDropped {
				list = append(list, clip(e, 120))
			}
		}
	}
	return list, n
}
