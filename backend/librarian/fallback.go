package librarian

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/display"
	"contextinfinity/backend/internal/intent"
)

// DefaultTarget is librarian.target_tokens (SPEC 16).
const DefaultTarget = 1200

// recallProvider answers with quotations from the whole memory, including other sessions. Its answers never enter a
// summary, which is sent to other providers.
const recallProvider = "recall"

// excerptBytes limits each side of the last exchange.
const excerptBytes = 300

// messageLimits limit the entities kept of one message. The user's matter most; an assistant's long answer is full of
// "must" and names.
var messageLimits = map[chat.Role]struct{ statements, artifacts int }{
	chat.RoleUser:      {statements: 24, artifacts: 40},
	chat.RoleAssistant: {statements: 8, artifacts: 12},
}

// Update is the input of a librarian: an earlier summary and the turns since, oldest first.
type Update struct {
	Previous string // Markdown; empty at the root
	Pins     []chat.Pin
	Turns    []chat.Turn
	Target   int              // tokens; 0: DefaultTarget
	Count    func(string) int // nil: four bytes per token

	// Model, if there is one, is called by Librarian.Update. It is given the newest summary written by a model and
	// every turn since, never a fallback's text; if ModelTurns is empty, these are Previous and Turns.
	Model         Model
	ModelPrevious string
	ModelTurns    []chat.Turn
	Titled        bool // a title of the conversation is requested too
}

// Result is a new summary. Tokens is at most the update's target.
type Result struct {
	Summary    string
	Tokens     int
	Origin     chat.StateOrigin
	Model      string // that wrote it; empty for the fallback
	Validation json.RawMessage
	Usage      *chat.Usage // of all calls, including failed ones
	Tries      int         // number of model calls
	Title      string      // empty: not requested, or none in the answer

	validation Validation // decoded
}

// Validation is stored with a state summary: the entries that were found, kept and dropped.
type Validation struct {
	Method       string         `json:"method"`
	Turns        int            `json:"turns"`
	TargetTokens int            `json:"target_tokens"`
	Tokens       int            `json:"tokens"`
	Found        map[string]int `json:"found"`
	Kept         map[string]int `json:"kept"`
	DroppedCount int            `json:"dropped_count"`
	Dropped      []string       `json:"dropped"` // the most important of them

	// The other fields are set by a run with a model. Required is how many entities had to be kept, and RequiredKept
	// how many were kept before any was added by rule; Reason says why the last rejected answer was rejected; Missing
	// are the entries that the summary lacked; Asked is the model that the fallback replaces.
	Tries        int      `json:"tries,omitempty"`
	Required     int      `json:"required,omitempty"`
	RequiredKept int      `json:"required_kept,omitempty"`
	Reason       string   `json:"reason,omitempty"`
	Missing      []string `json:"missing,omitempty"`
	Asked        string   `json:"asked,omitempty"`
	// Added are the missing entries that were added by rule.
	Added []string    `json:"added,omitempty"`
	Usage *chat.Usage `json:"usage,omitempty"`
}

// maxDropped limits the list in a Validation.
const maxDropped = 40

// Fallback updates a summary without a model (SRD 10.3): it keeps earlier entries and the decisions, constraints,
// names and open tasks of the new turns, without duplicates, keeping the latest mention; it appends a short excerpt of
// the last exchange; and it drops the oldest of the least important entries until the summary fits. Without turns, a
// summary that it wrote itself and that fits is not changed. A target too small for the headings gives an empty
// summary.
func Fallback(u Update) Result {
	if u.Target <= 0 {
		u.Target = DefaultTarget
	}
	u.Count = counting(u.Count)
	d := newDraft(u.Pins)
	d.now = timeOf(u.Turns)
	previous := settlePlans(Parse(u.Previous), d.now)
	if len(u.Turns) > 0 {
		previous.entries[LastExchange] = excerpt(u.Turns[len(u.Turns)-1], newMask(u.Pins))
	}
	d.takeSummary(previous)
	for _, t := range u.Turns {
		d.takeTurn(t)
	}
	all := d.summary()
	kept, text, tokens := stateLayout.withTime(d.now).trim(all, u.Target, u.Count)
	v := Validation{
		Method: string(chat.StateFallback), Turns: len(u.Turns), TargetTokens: u.Target, Tokens: tokens,
		Found: all.sizes(), Kept: kept.sizes(),
	}
	v.Dropped, v.DroppedCount = missing(all, kept)
	validation, _ := chat.MarshalJSON(v) // plain strings and numbers always encode
	return Result{Summary: text, Tokens: tokens, Origin: chat.StateFallback, Validation: validation, validation: v}
}

// draft collects entries without duplicates, latest mention last.
type draft struct {
	entries [sectionCount][]noted
	at      map[string]spot // by meaning
	pinned  map[string]bool
	inCode  map[string]bool // names that only occur in code
	now     time.Time       // time of the newest turn; zero: unknown
}

type spot struct {
	sec   Section
	index int
}

type noted struct {
	text    string
	removed bool // repeated later, or done
	words   repeated
}

func newDraft(pins []chat.Pin) *draft {
	d := &draft{at: map[string]spot{}, pinned: map[string]bool{}, inCode: map[string]bool{}}
	for _, p := range pins {
		d.pinned[key(Facts, plainLine(p.Text))] = true
		for line := range strings.Lines(p.Text) {
			for span := range intent.Sentences(line, intent.Span{End: len(line)}) {
				s := line[span.Start:span.End]
				d.pinned[key(Facts, plainLine(s))], d.pinned[key(Facts, plainLine(withoutLeadIn(s)))] = true, true
			}
		}
	}
	return d
}

// note adds an entry, or moves the entry with the same meaning to the end of its section: a repeated decision remains a
// decision.
func (d *draft) note(sec Section, text string) {
	text = plainLine(text)
	if text == "" || (sec != Artifacts && d.pinned[key(Facts, text)]) {
		return
	}
	if at, ok := d.drop(sec, text); ok {
		sec = at
	}
	words := d.dropRepeated(sec, text)
	d.at[duplicateKey(sec, text)] = spot{sec, len(d.entries[sec])}
	d.entries[sec] = append(d.entries[sec], noted{text: text, words: words})
}

// dropRepeated removes the entries of a section that a new one repeats in other words.
func (d *draft) dropRepeated(sec Section, text string) repeated {
	if !comparedByWords(sec) || strings.HasPrefix(text, assistantMark) {
		return repeated{}
	}
	words, share := repeatedOf(text), repeatShareOf(sec, text)
	list := d.entries[sec]
	for i := max(len(list)-maxCompared, 0); i < len(list); i++ {
		if e := &list[i]; !e.removed && words.repeats(e.words, share) {
			d.drop(sec, e.text)
		}
	}
	return words
}

// drop removes the entry with the same meaning, and returns its section.
func (d *draft) drop(sec Section, text string) (Section, bool) {
	k := duplicateKey(sec, text)
	at, ok := d.at[k]
	if ok {
		d.entries[at.sec][at.index].removed = true
		delete(d.at, k)
	}
	return at.sec, ok
}

// duplicateKey is equal for entries that are duplicates of each other. Statements are compared across all sections,
// names and the last exchange only among themselves.
func duplicateKey(sec Section, text string) string {
	switch sec {
	case Artifacts:
		return "name " + nameKey(text)
	case LastExchange:
		return "last " + key(sec, text)
	}
	return "statement " + key(sec, text)
}

// nameKey is equal for a call with and without arguments, an address with and without scheme, and a name with and
// without marks.
func nameKey(name string) string {
	name = strings.NewReplacer("`", "", `\`, "", "https://", "", "http://", "").Replace(name)
	if call, _, ok := strings.Cut(name, "("); ok && call != "" && strings.HasSuffix(name, ")") && onlyRunes(call, isWordRune, ".:#$") {
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

// takeText adds the content of a message; asked is the user's message in its turn.
func (d *draft) takeText(role chat.Role, text, asked string) {
	var gone []string // names that the message itself replaces
	if role == chat.RoleUser {
		gone = replacedNames(text)
	}
	for _, e := range keptEntities(role, text, asked) {
		if e.Kind == KindDone {
			d.finish(plainLine(e.Text))
			continue
		}
		if sectionFor(e.Kind) == Artifacts && slices.Contains(gone, strings.ToLower(strings.Trim(e.Text, "`"))) {
			continue
		}
		if role == chat.RoleUser && sectionFor(e.Kind) != Artifacts {
			d.dropReplaced(e.Text)
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

// takeNames adds only the names of an assistant's message.
func (d *draft) takeNames(text, asked string) {
	for _, e := range keptEntities(chat.RoleAssistant, text, asked) {
		if sectionFor(e.Kind) == Artifacts && !(e.inCode && e.Kind == KindSymbol) {
			d.note(Artifacts, e.Text)
		}
	}
}

// keptEntities returns the entities of a message that a summary uses, statements before names. Of an assistant's
// message these are statements with numbers or dates, marked as the assistant's: its advice is not binding, its
// checklists are proposals, and its plans are the user's only if the user says so. Of its names, only those are kept
// that belong to real work, or that the user mentioned in the request.
func keptEntities(role chat.Role, text, asked string) []Entity {
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
			e.Text = withoutLeadIn(e.Text)
		case isSample(e.Text):
			continue
		case measured(e.Text) && !intent.IsStanding(e.Text) && !strings.HasSuffix(e.Text, ":"):
			e.Kind, e.Text = KindFact, clipLine(assistantMark+withoutLeadIn(e.Text), maxEntry)
		default:
			continue
		}
		statements = append(statements, e)
	}
	if role != chat.RoleUser {
		artifacts = keptNames(artifacts, asked)
	}
	limit := messageLimits[role]
	return append(ends(statements, limit.statements), ends(artifacts, limit.artifacts)...)
}

// finish drops an open task, but no other entry.
func (d *draft) finish(task string) {
	if at, ok := d.at[duplicateKey(OpenTasks, task)]; ok && at.sec == OpenTasks {
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

// ends keeps n entities, half from the beginning and half from the end, where people explain a long paste.
func ends(list []Entity, n int) []Entity {
	if len(list) <= n {
		return list
	}
	head := (n + 1) / 2
	return append(list[:head:head], list[len(list)-(n-head):]...)
}

// excerpt is the last exchange in two lines, without pinned text.
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
			if !e.removed {
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

// missing lists the entries of a summary that are not in kept, most important first, and counts them.
func missing(all, kept Summary) ([]string, int) {
	list, n := []string{}, 0
	for _, sec := range importance {
		isKept := map[string]bool{}
		for _, e := range kept.entries[sec] {
			isKept[e] = true
		}
		for _, e := range all.entries[sec] {
			if isKept[e] {
				continue
			}
			if n++; len(list) < maxDropped {
				list = append(list, clip(e, 120))
			}
		}
	}
	return list, n
}
