package librarian

import (
	"slices"
	"sort"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/intent"
)

// A range with more turns than this is read at its two ends: the beginning shows its subject, the end its outcome.
const (
	rangeTurns = 400
	rangeHead  = 100
)

// rangeMessageBytes limits how much of each end of a message an extract reads.
const rangeMessageBytes = 8 << 10

// askedBytes is the maximum length of a line about a request.
const askedBytes = 140

// Extract represents a range of turns without a model's summary (SPEC 6): constraints, decisions, facts, names and
// open tasks, then the topics, within target tokens. It is pure and deterministic, and its work is bounded.
func Extract(turns []chat.Turn, target int, count func(string) int) string {
	return ExtractFrom(nil, turns, target, count)
}

// ExtractFrom is Extract for a range that is partly represented already, by a model's summaries or earlier extracts,
// oldest first, and the remaining turns.
func ExtractFrom(pieces []string, turns []chat.Turn, target int, count func(string) int) string {
	g := collector{at: map[string]int{}}
	for _, p := range pieces {
		g.piece(p)
	}
	for i, t := range turns {
		if len(turns) > rangeTurns && i >= rangeHead && i < len(turns)-(rangeTurns-rangeHead) {
			continue
		}
		g.turn(t)
	}
	return fit(g.live(), max(target, 0), counting(count))
}

// statement is an entry that may be in an extract.
type statement struct {
	sec     Section
	text    string
	score   int  // higher is worth more
	byUser  bool // the user's; ranked before an assistant's statements
	order   int
	removed bool
	words   repeated
}

// collector collects statements without duplicates, keeping the latest mention.
type collector struct {
	list []statement
	at   map[string]int // by meaning
}

func (g *collector) note(s statement) {
	if s.text = plainLine(s.text); s.text == "" {
		return
	}
	k := duplicateKey(s.sec, s.text)
	if i, ok := g.at[k]; ok {
		before := &g.list[i]
		before.removed = true
		s.sec, s.byUser, s.score = before.sec, before.byUser || s.byUser, max(before.score, s.score)
		if s.score >= enoughDetails {
			s.score++ // repetition adds weight
		}
	}
	if comparedByWords(s.sec) && s.byUser {
		s.words = repeatedOf(s.text)
		g.dropRepeated(s)
	}
	g.at[k] = len(g.list)
	s.order = len(g.list)
	g.list = append(g.list, s)
}

// dropRepeated removes the statements that a new one repeats in other words.
func (g *collector) dropRepeated(s statement) {
	share := repeatShareOf(s.sec, s.text)
	for i := max(len(g.list)-maxCompared, 0); i < len(g.list); i++ {
		if e := &g.list[i]; !e.removed && e.byUser && e.sec == s.sec && s.words.repeats(e.words, share) {
			e.removed = true
			delete(g.at, duplicateKey(e.sec, e.text))
		}
	}
}

func (g *collector) finish(task string) {
	if i, ok := g.at[duplicateKey(OpenTasks, plainLine(task))]; ok && g.list[i].sec == OpenTasks {
		g.list[i].removed = true
	}
}

func (g *collector) live() []statement {
	var out []statement
	for _, s := range g.list {
		if !s.removed {
			out = append(out, s)
		}
	}
	return out
}

func (g *collector) turn(t chat.Turn) {
	g.message(t.User, "")
	if t.Assistant != nil && t.Provider != recallProvider {
		g.message(*t.Assistant, endsOf(namingDocuments(t.User)))
	}
	if asked := plainLine(topic(t.User)); asked != "" {
		if !g.says(asked) {
			g.note(statement{sec: Happened, text: asked})
		}
	}
}

// recentStatements is the number of newest statements that are searched for a topic.
const recentStatements = 64

// says reports whether one of the newest statements contains a topic.
func (g *collector) says(topic string) bool {
	if _, exists := g.at[duplicateKey(Happened, topic)]; exists {
		return true
	}
	k := key(Happened, topic)
	for _, s := range g.list[max(len(g.list)-recentStatements, 0):] {
		if !s.removed && s.sec != Artifacts && strings.Contains(key(s.sec, s.text), k) {
			return true
		}
	}
	return false
}

func (g *collector) message(m chat.Message, asked string) {
	byUser := m.Role == chat.RoleUser
	list := keptEntities(m.Role, endsOf(namingDocuments(m)), asked)
	for _, e := range list {
		switch {
		case e.Kind == KindDone:
			g.finish(e.Text)
		case sectionFor(e.Kind) != Artifacts:
			g.statement(e, byUser)
		case !within(list, e.Text):
			g.note(statement{sec: Artifacts, text: e.Text, score: 1, byUser: byUser})
		}
	}
}

func (g *collector) statement(e Entity, byUser bool) {
	sec := sectionFor(e.Kind)
	score := entryScore(sec, e.Text)
	g.note(statement{sec: sec, text: e.Text, score: score, byUser: byUser && score > noContent})
}

// assistantMark begins a statement of an assistant: the speaker matters, and must survive an extract of an extract.
const assistantMark = "Assistant: "

// piece adds the content of an earlier summary of a part of the range.
func (g *collector) piece(text string) {
	sec := Happened
	for line := range strings.Lines(clip(text, maxParse)) {
		line = strings.TrimSpace(line)
		if title, ok := headingText(line); ok {
			sec = pieceSection(title)
			continue
		}
		line, _ = cutBullet(line)
		switch {
		case line == "":
		case sec == Artifacts:
			for name := range strings.SplitSeq(line, artifactSeparator) {
				g.note(statement{sec: sec, text: name, score: 1, byUser: true})
			}
		case sec == Happened:
			for span := range intent.Sentences(line, intent.Span{End: len(line)}) {
				s := line[span.Start:span.End]
				g.note(statement{sec: sec, text: s, score: salience(s)})
			}
		default:
			score := entryScore(sec, line)
			g.note(statement{sec: sec, text: line, score: score, byUser: score > noContent && !strings.HasPrefix(line, assistantMark)})
		}
	}
}

func pieceSection(title string) Section {
	if sec, ok := sectionOf(title); ok && sec != LastExchange {
		return sec
	}
	return Happened
}

// topic is the subject of a user's message, in one line.
func topic(m chat.Message) string {
	text := m.RenderedText()
	if len(text) > 4*askedBytes {
		text = text[:4*askedBytes]
	}
	first := ""
	for line := range strings.Lines(text) {
		line, bullet := cutBullet(strings.TrimSpace(line))
		if first != "" || bullet || strings.HasPrefix(line, "```") {
			continue
		}
		line = plainProse(line)
		for span := range intent.Sentences(line, intent.Span{End: len(line)}) {
			if s := line[span.Start:span.End]; first == "" && len(s) >= 12 {
				first = withoutLeadIn(s)
			}
		}
	}
	return clipClause(first, askedBytes)
}

func endsOf(text string) string { return endsWithin(text, rangeMessageBytes) }

// stateMessageBytes limits how much of each end of a message a state summary reads. It keeps only content of the two
// ends anyway.
const stateMessageBytes = 512 << 10

func longEnds(text string) string { return endsWithin(text, stateMessageBytes) }

// endsWithin limits both ends of a text to this many bytes each.
func endsWithin(text string, each int) string {
	if len(text) <= 2*each {
		return text
	}
	return strings.ToValidUTF8(text[:each]+"\n"+text[len(text)-each:], "")
}

// within reports whether a statement already contains the name.
func within(list []Entity, name string) bool {
	return slices.ContainsFunc(list, func(s Entity) bool { return sectionFor(s.Kind) != Artifacts && strings.Contains(s.Text, name) })
}

// extractShares are the shares of an extract reserved for each section.
var extractShares = [sectionCount]float64{
	Facts: 0.36, Decisions: 0.16, Constraints: 0.26, Artifacts: 0.10, OpenTasks: 0.10, Happened: 0.02,
}

// artifactSeparator separates names, which are short and many.
const artifactSeparator = " · "

// maxMisses is the number of entries that do not fit after which no more are tried.
const maxMisses = 24

// fit chooses statements within the target: the user's before an assistant's, sections by their shares, within a
// section by score, and the newest first among equals.
func fit(list []statement, target int, count func(string) int) string {
	if all := renderExtract(list); count(all) <= target {
		return all
	}
	chosen := selection{count: count, remaining: target}
	for _, byUser := range []bool{true, false} {
		chosen.tier(list, byUser)
	}
	kept := chosen.kept
	for drop := 1; ; drop *= 2 {
		if text := renderExtract(kept); count(text) <= target {
			return text
		}
		kept = kept[:max(len(kept)-drop, 0)]
	}
}

// selection collects statements while they fit.
type selection struct {
	count     func(string) int
	remaining int         // tokens
	kept      []statement // the first is dropped last
	headed    [sectionCount]bool
}

// tier takes either the user's statements or the others.
func (c *selection) tier(list []statement, byUser bool) {
	var candidates []statement
	var demand [sectionCount]int
	for _, s := range list {
		if s.byUser == byUser {
			candidates = append(candidates, s)
			demand[s.sec] += len(s.text)/4 + 2
		}
	}
	sort.SliceStable(candidates, func(a, b int) bool {
		if candidates[a].score != candidates[b].score {
			return candidates[a].score > candidates[b].score
		}
		return candidates[a].order > candidates[b].order
	})
	allotted := allot(demand, extractShares, c.remaining)
	rest := c.take(candidates, func(s statement) *int { return &allotted[s.sec] })
	c.take(rest, func(statement) *int { return &c.remaining })
}

// take keeps the statements that fit into both the total and their allotment, and returns the others.
func (c *selection) take(list []statement, limit func(statement) *int) (rest []statement) {
	misses := 0
	for _, s := range list {
		allotted := limit(s)
		if misses > maxMisses || *allotted <= 0 {
			rest = append(rest, s)
			continue
		}
		cost := c.cost(s)
		if cost > c.remaining || cost > *allotted {
			rest, misses = append(rest, s), misses+1
			continue
		}
		if c.remaining -= cost; allotted != &c.remaining {
			*allotted -= cost
		}
		c.headed[s.sec] = true
		c.kept = append(c.kept, s)
	}
	return rest
}

func (c *selection) cost(s statement) int {
	n := c.count("- " + s.text + "\n")
	if s.sec == Artifacts {
		n = c.count(s.text + artifactSeparator)
	}
	if !c.headed[s.sec] {
		n += c.count("## " + s.sec.Heading() + "\n")
	}
	return n
}

// extractOrder is the order of sections in an extract.
var extractOrder = []Section{Constraints, Decisions, Facts, OpenTasks, Artifacts, Happened}

// renderExtract writes the non-empty sections, each in chronological order.
func renderExtract(list []statement) string {
	var bySection [sectionCount][]statement
	for _, s := range list {
		bySection[s.sec] = append(bySection[s.sec], s)
	}
	var b strings.Builder
	for _, sec := range extractOrder {
		if len(bySection[sec]) == 0 {
			continue
		}
		sort.Slice(bySection[sec], func(i, j int) bool { return bySection[sec][i].order < bySection[sec][j].order })
		b.WriteString("## " + sec.Heading() + "\n")
		separator, between := "- ", "\n- "
		if sec == Artifacts {
			between = artifactSeparator
		}
		for _, s := range bySection[sec] {
			b.WriteString(separator + s.text)
			separator = between
		}
		b.WriteByte('\n')
	}
	return b.String()
}
