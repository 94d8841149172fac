package crash

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"contextinfinity/test/harness"
)

// shown is the part of the output of show --json that is checked.
type shown struct {
	Session struct {
		ID    string `json:"session_id"`
		Title string
	}
	Branches []struct {
		ID        string `json:"branch_id"`
		HeadState string `json:"head_state"`
	}
	Turns []shownTurn
}

type shownTurn struct {
	ID        string `json:"turn_id"`
	Branch    string `json:"branch_id"`
	Seq       int64  `json:"turn_seq"`
	Phase     string
	Outcome   string
	User      message  `json:"user_message"`
	Assistant *message `json:"assistant_message"`
	Partial   string   `json:"partial_text"`
	RetryOf   string   `json:"retry_of"`
	Steps     []struct {
		ID      string `json:"step_id"`
		Outcome struct{ Status string }
		Items   []message
	}
}

type message struct {
	Blocks []struct{ Type, Text string }
}

// text returns the visible text.
func (m *message) text() string {
	var out []string
	for _, b := range m.Blocks {
		if b.Type == "text" {
			out = append(out, b.Text)
		}
	}
	return strings.Join(out, "\n\n")
}

// checker compares a data directory with the book.
type checker struct {
	book     *book
	provider answers
	found    []string
}

// answers is what is known about a provider without asking the program.
type answers interface {
	// answer returns the complete answer to a prompt.
	answer(n int) string
	// sent reports whether an answer was ever sent completely.
	sent(n int) bool
}

func (p *provider) answer(n int) string { return answerText(n) }
func (p *provider) sent(n int) bool     { return p.completions(n) > 0 }

func (o *checker) add(format string, args ...any) {
	o.found = append(o.found, fmt.Sprintf(format, args...))
}

// transcripts reads every branch of every session and checks each turn once. After recovery no step may be open.
func (o *checker) transcripts(ctx context.Context, h *home, recovered bool) error {
	ids, err := h.sessions(ctx)
	if err != nil {
		return err
	}
	turns := map[string]shownTurn{}
	for _, id := range ids {
		if err := o.session(ctx, h, id, turns); err != nil {
			return err
		}
	}
	o.prompts(turns, true, recovered)
	return nil
}

func (o *checker) session(ctx context.Context, h *home, id string, turns map[string]shownTurn) error {
	var first shown
	if err := h.ok(ctx, &first, "show", id); err != nil {
		return err
	}
	if allowed, required := o.book.titles(id); required && !slices.Contains(allowed, first.Session.Title) {
		o.add("session %s is called %q, not one of %q", id, first.Session.Title, allowed)
	}
	o.lineage(first.Turns, turns)
	for _, b := range first.Branches {
		var s shown
		if err := h.ok(ctx, &s, "show", id, "--branch", b.ID); err != nil {
			return err
		}
		o.lineage(s.Turns, turns)
	}
	return nil
}

// lineage checks the order of a transcript and collects its turns.
func (o *checker) lineage(list []shownTurn, turns map[string]shownTurn) {
	seq := int64(0)
	for _, t := range list {
		if t.Seq <= seq {
			o.add("turn %s has number %d after %d", t.ID, t.Seq, seq)
		}
		seq = t.Seq
		turns[t.ID] = t
	}
}

// continueMessage is the message that "continue" sends for a final turn, as a new turn.
const continueMessage = "Please continue exactly where you stopped."

// prompts checks each prompt against the turns; all means that these are all turns.
func (o *checker) prompts(turns map[string]shownTurn, all, recovered bool) {
	o.book.mu.Lock()
	defer o.book.mu.Unlock()
	copies := map[int][]shownTurn{}
	continuations := 0
	for _, t := range turns {
		if t.User.text() == continueMessage {
			continuations++
			continue
		}
		_, n := lastTag(t.User.text())
		p := o.book.byNumber[n]
		if p == nil || t.User.text() != p.text {
			o.add("turn %s contains a prompt that was never sent: %q", t.ID, harness.Clip(t.User.text()))
			continue
		}
		o.turn(p, t, recovered)
		if t.RetryOf == "" && !slices.ContainsFunc(copies[n], func(c shownTurn) bool { return c.ID == t.ID }) {
			copies[n] = append(copies[n], t)
		}
	}
	if !all {
		return
	}
	if continuations > o.book.continued {
		o.add("DUPLICATE: %d turns continue an answer, but only %d continuations were requested", continuations, o.book.continued)
	}
	for _, p := range o.book.prompts {
		o.stored(p, copies[p.number], turns)
	}
	o.order()
}

// stored checks that a prompt exists as often as it should. A regenerated answer to a final turn is a turn on another
// branch with the same prompt, which refers to the turn it repeats.
func (o *checker) stored(p *prompt, copies []shownTurn, turns map[string]shownTurn) {
	switch n := len(copies); {
	case p.effect == acknowledged && n == 0:
		o.add("LOST: prompt %d (turn %s) was acknowledged and is missing", p.number, p.turn)
	case p.effect == refused && n > 0:
		o.add("prompt %d was refused, but exists", p.number)
	case n > 1:
		o.add("DUPLICATE: prompt %d exists %d times", p.number, n)
	}
	if p.turn == "" {
		return
	}
	t, ok := turns[p.turn]
	switch {
	case !ok:
		o.add("LOST: turn %s of prompt %d is missing", p.turn, p.number)
	case t.Seq != p.seq || t.Branch != p.branch:
		o.add("turn %s was acknowledged as %s #%d and is %s #%d", t.ID, p.branch, p.seq, t.Branch, t.Seq)
	case p.finalText && (t.Outcome != "completed" || t.Assistant == nil || t.Assistant.text() != p.final):
		o.add("LOST: the answer of turn %s was reported as final and is now %s: %q", t.ID, t.Outcome, harness.Clip(t.text()))
	}
}

// order checks that the prompts of a branch are in the order of their acknowledgements, if one was acknowledged
// before the next was sent.
func (o *checker) order() {
	last := map[string]*prompt{}
	for _, p := range o.book.prompts { // in the order in which they were sent
		if p.turn == "" {
			continue
		}
		before := last[p.branch]
		if before != nil && before.acknowledged < p.begun && before.seq >= p.seq {
			o.add("prompt %d (#%d) was acknowledged before prompt %d (#%d) was sent", before.number, before.seq, p.number, p.seq)
		}
		if before == nil || p.seq > before.seq {
			last[p.branch] = p
		}
	}
}

func (t shownTurn) text() string {
	if t.Assistant != nil {
		return t.Assistant.text()
	}
	return t.Partial
}

// turn checks the content of a turn.
func (o *checker) turn(p *prompt, t shownTurn, recovered bool) {
	full := o.provider.answer(p.number)
	for _, s := range t.Steps {
		text := ""
		for _, m := range s.Items {
			text += m.text()
		}
		open := s.Outcome.Status == "running"
		if open { // its text is in its journal until it is recovered
			text = t.Partial
		}
		if recovered && open {
			o.add("step %s of turn %s is still open after recovery", s.ID, t.ID)
		}
		o.step(p, s.ID, text, full)
		if s.Outcome.Status == "completed" && text != full {
			o.add("PARTIAL CALLED COMPLETE: step %s of prompt %d is completed with %q", s.ID, p.number, harness.Clip(text))
		}
	}
	if rest := strings.TrimSpace(unprefixed(t.text(), full)); rest != "" {
		o.add("turn %s of prompt %d contains text that was never sent: %q", t.ID, p.number, harness.Clip(rest))
	}
	o.outcome(p, t, full)
}

// unprefixed removes beginnings of an answer from the start of a text.
func unprefixed(text, full string) string {
	head := full[:strings.Index(full, " ")+1]
	if head == "" || !strings.HasPrefix(text, head) {
		return text
	}
	for {
		text = strings.TrimLeft(text, "\n")
		if !strings.HasPrefix(text, head) {
			if strings.HasPrefix(head, text) {
				return "" // cut off within its first word
			}
			return text
		}
		n := 0
		for n < len(text) && n < len(full) && text[n] == full[n] {
			n++
		}
		text = text[n:]
	}
}

// step checks that a step contains the text that was reported as durable. The text of a continuation follows the earlier
// text.
func (o *checker) step(p *prompt, id, text, full string) {
	s := p.steps[id]
	if s == nil {
		return
	}
	if s.err != "" {
		o.add("step %s: %s", id, s.err)
	}
	if durable := s.durableText(); !strings.Contains(text, durable) {
		o.add("LOST: step %s of prompt %d was reported as durable up to byte %d, and has %d bytes: %q", id, p.number, len(durable), len(text), harness.Clip(text))
	}
	if !strings.HasPrefix(full, s.text) {
		o.add("step %s of prompt %d showed text that was never sent: %q", id, p.number, harness.Clip(s.text))
	}
}

// outcome checks that no partial answer became final without a decision of the user.
func (o *checker) outcome(p *prompt, t shownTurn, full string) {
	switch t.Outcome {
	case "completed":
		if !strings.HasSuffix(t.text(), full) || !o.provider.sent(p.number) {
			o.add("PARTIAL CALLED COMPLETE: turn %s of prompt %d is %s with %q", t.ID, p.number, t.Phase, harness.Clip(t.text()))
		}
	case "stopped":
		if !p.interrupted {
			o.add("turn %s of prompt %d is stopped, but was not stopped by the user", t.ID, p.number)
		}
	case "kept", "discarded":
		if p.session != "" && !o.book.decided[p.session] {
			o.add("turn %s of prompt %d is %s, but the user did not request it", t.ID, p.number, t.Outcome)
		}
	}
}

// verify runs the program's own check.
func (o *checker) verify(ctx context.Context, h *home) error {
	var doc struct {
		OK       bool
		Findings []struct{ Kind, Table, ID, Message string }
	}
	r, err := h.document(ctx, &doc, "verify")
	if err != nil {
		return err
	}
	if r.code != 0 || !doc.OK || len(doc.Findings) > 0 {
		o.add("verify ended with %d and %d findings, the first: %+v", r.code, len(doc.Findings), append(doc.Findings, struct{ Kind, Table, ID, Message string }{})[0])
	}
	return nil
}
