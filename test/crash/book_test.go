package crash

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// book records what the program reported, outside of the program. The data directory is compared with it after each
// crash.
type book struct {
	mu       sync.Mutex
	tags     map[string]string // other names for kinds of prompts
	first    int               // the number before that of the first prompt
	clock    int               // counts starts and ends of commands
	prompts  []*prompt
	byNumber map[int]*prompt
	facts    []*fact
	turns    []string // ids of turns, oldest first
	sessions []string
	// continued is how many turns were asked to continue.
	continued int
	decided   map[string]bool // sessions in which keep or discard was requested
}

// effect is what is known about the effect of a command.
type effect int

const (
	unknown      effect = iota // it was running when the program died: done once, or not at all
	acknowledged               // the program reported it as stored
	refused                    // the program reported that it was not stored
)

// prompt is a message that was sent.
type prompt struct {
	number       int
	text         string
	effect       effect
	begun        int // book time when the command started
	acknowledged int // book time of the acknowledgement
	session      string
	branch       string
	turn         string
	seq          int64
	target       string // the session it was sent to, empty for a new one

	steps       map[string]*stream // what frames reported, by step
	final       string             // text of an answer that was reported as final
	finalText   bool
	interrupted bool // Ctrl-C was sent, so the answer may be a stopped one
}

// stream is what frames reported about a step.
type stream struct {
	text    string
	durable int64
	seq     int64
	err     string // frames that contradict each other
}

// fact is a small value that a command stores once: a pin, a label or a title.
type fact struct {
	kind    string // pin, label, title
	subject string // the session of a title
	text    string
	effect  effect
	begun   int
	ended   int
}

func newBook() *book { return &book{byNumber: map[int]*prompt{}, decided: map[string]bool{}} }

// clone returns an independent copy of the book.
func (b *book) clone() *book {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := newBook()
	c.first, c.clock = b.first, b.clock
	c.turns, c.sessions = slices.Clone(b.turns), slices.Clone(b.sessions)
	maps.Copy(c.decided, b.decided)
	for _, p := range b.prompts {
		q := *p
		q.steps = map[string]*stream{}
		for id, s := range p.steps {
			t := *s
			q.steps[id] = &t
		}
		c.prompts = append(c.prompts, &q)
		c.byNumber[q.number] = &q
	}
	for _, f := range b.facts {
		g := *f
		c.facts = append(c.facts, &g)
	}
	return c
}

func (b *book) tick() int {
	b.clock++
	return b.clock
}

// prompt records that a message is about to be sent.
func (b *book) prompt(kind, session string) *prompt {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := b.first + len(b.prompts) + 1
	if tag := b.tags[kind]; tag != "" {
		kind = tag
	}
	p := &prompt{
		number: n, target: session, begun: b.tick(), steps: map[string]*stream{},
		text: fmt.Sprintf("Question %d: when do we deploy Orders, größer 漢字? [[%s %d]]", n, kind, n),
	}
	b.prompts = append(b.prompts, p)
	b.byNumber[n] = p
	return p
}

// delete records that the session of a prompt is about to be deleted permanently.
func (b *book) delete(deleted *prompt) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.prompts {
		if p.session == deleted.session {
			p.effect, p.turn = unknown, ""
		}
	}
}

// mustExist reports whether the session of a prompt must still exist.
func (b *book) mustExist(original *prompt) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.byNumber[original.number]
	return p != nil && p.session != "" && p.effect == acknowledged
}

// event is a line of --events.
type event struct {
	Event   string
	Session string `json:"session_id"`
	Branch  string `json:"branch_id"`
	Turn    string `json:"turn_id"`
	TurnSeq int64  `json:"turn_seq"`
	Step    string `json:"step_id"`
	Seq     int64
	Kind    string
	Text    string
	Shown   int64 `json:"displayed_bytes"`
	Durable int64 `json:"durable_bytes"`
	Outcome string
	Error   *struct{ Code, Message string }
}

// acknowledge records a line of --events for a prompt.
func (b *book) acknowledge(p *prompt, line []byte) error {
	var e event
	if err := json.Unmarshal(line, &e); err != nil {
		return fmt.Errorf("a line of --events cannot be read: %w: %q", err, line)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e.Event {
	case "accepted":
		if p.effect != acknowledged {
			p.effect, p.acknowledged, p.session, p.branch, p.turn, p.seq = acknowledged, b.tick(), e.Session, e.Branch, e.Turn, e.TurnSeq
			b.turns = append(b.turns, e.Turn)
			if !slices.Contains(b.sessions, e.Session) {
				b.sessions = append(b.sessions, e.Session)
			}
		}
	case "frame":
		p.frame(e)
	case "settled":
		switch {
		case p.effect != acknowledged && e.Error != nil && definite(e.Error.Code):
			p.effect = refused
		case e.Outcome == "completed" && e.Turn == p.turn:
			p.final, p.finalText = e.Text, true
		}
	}
	return nil
}

// rerun records a line of --events for a retry or a continuation.
func (b *book) rerun(p *prompt, line []byte) error {
	var e event
	if err := json.Unmarshal(line, &e); err != nil {
		return fmt.Errorf("a line of --events cannot be read: %w: %q", err, line)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if e.Event == "frame" {
		p.frame(e)
	}
	return nil
}

// definite reports whether an error means that nothing was stored. Other errors leave that open, because the program
// may have died in between.
func definite(code string) bool {
	return slices.Contains([]string{"invalid", "incomplete", "conflict", "not_found", "locked", "config"}, code)
}

func (p *prompt) frame(e event) {
	s := p.steps[e.Step]
	if s == nil {
		s = &stream{}
		p.steps[e.Step] = s
	}
	if e.Seq != s.seq+1 && s.err == "" {
		s.err = fmt.Sprintf("frame %d arrived after %d", e.Seq, s.seq)
	}
	s.seq = e.Seq
	if e.Kind == "text" {
		s.text += e.Text
	}
	if (e.Shown != int64(len(s.text)) || e.Durable > e.Shown) && s.err == "" {
		s.err = fmt.Sprintf("frame %d says %d of %d bytes are durable, %d were shown", e.Seq, e.Durable, e.Shown, len(s.text))
	}
	s.durable = max(s.durable, e.Durable)
}

// durableText returns the part of a step's text that was reported as durable.
func (s *stream) durableText() string { return s.text[:min(s.durable, int64(len(s.text)))] }

// fact records that a small value is about to be stored.
func (b *book) fact(kind, subject string) *fact {
	b.mu.Lock()
	defer b.mu.Unlock()
	f := &fact{kind: kind, subject: subject, begun: b.tick(), text: fmt.Sprintf("%s number %d", kind, len(b.facts)+1)}
	b.facts = append(b.facts, f)
	return f
}

// settle records how the command of a fact ended.
func (b *book) settle(f *fact, r result) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var doc struct{ Error *struct{ Code string } }
	f.ended = b.tick()
	switch {
	case json.Unmarshal([]byte(r.stdout), &doc) != nil:
	case r.code == 0:
		f.effect = acknowledged
	case doc.Error != nil && definite(doc.Error.Code):
		f.effect = refused
	}
}

// titles returns the titles that a session may have, and whether it must have one of them. A title that was acknowledged
// excludes all titles that were set before it.
func (b *book) titles(session string) (allowed []string, required bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var titles []*fact
	for _, f := range b.facts {
		if f.kind == "title" && f.subject == session && f.effect != refused {
			titles = append(titles, f)
			required = required || f.effect == acknowledged
		}
	}
	for _, f := range titles {
		replaced := slices.ContainsFunc(titles, func(later *fact) bool {
			return later.effect == acknowledged && f.ended > 0 && later.begun > f.ended
		})
		if !replaced {
			allowed = append(allowed, f.text)
		}
	}
	return allowed, required
}

// decide records that keep or discard was requested in a session.
func (b *book) decide(session string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.decided[session] = true
}

// willContinue records that a turn is about to be continued.
func (b *book) willContinue() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.continued++
}

// recent returns one of the newest sessions or turns, chosen by u in [0, 1).
func recent(list []string, u float64) string {
	if len(list) == 0 {
		return ""
	}
	list = list[max(0, len(list)-6):]
	return list[int(u*float64(len(list)))]
}

func (b *book) session(u float64) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return recent(b.sessions, u)
}

// answered returns one of the newest prompts with a turn, or nil.
func (b *book) answered(u float64) *prompt {
	b.mu.Lock()
	defer b.mu.Unlock()
	id := recent(b.turns, u)
	i := slices.IndexFunc(b.prompts, func(p *prompt) bool { return id != "" && p.turn == id })
	if i < 0 {
		return nil
	}
	return b.prompts[i]
}

// recordTerminal records what a conversation in a terminal printed: an answer is only shown for a stored message.
func (b *book) recordTerminal(p *prompt, stdout, answer string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p.effect == unknown && strings.Contains(stdout, answer[:16]) {
		p.effect, p.acknowledged = acknowledged, b.tick()
	}
}
