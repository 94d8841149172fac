package cli

import (
	"context"
	"fmt"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/inspecting"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/prompt"
)

func contextVerbs() []verb {
	return []verb{{
		use:   "context SESSION",
		short: "Show what the model saw in a turn, or would see next",
		long: `Without --turn, shows what the next request would contain. Each item is listed with its source and size;
--text prints the items' exact texts, --diff what changed since the previous request.`,
		flags: []flag{
			branchFlag,
			nameFlag("turn", "a turn that was sent, instead of the next request"),
			boolFlag("diff", "compare with the previous request"),
			boolFlag("text", "print the exact text of every item"),
		},
		opens: reads,
		do: func(ctx context.Context, r *run) (reply, error) {
			x, err := r.request(ctx)
			if err != nil && x != nil && x.Status != nil { // it does not fit
				return reply{doc: fields{{"session_id", x.SessionID}, {"branch_id", x.BranchID}, {"usage_status", x.Status}}, keepOnError: true}, err
			}
			if err == nil && r.on("diff") {
				err = x.compare(ctx, r.s)
			}
			return reply{doc: x, text: func(o *output) { x.print(o, r.on("text")) }}, err
		},
	}}
}

// request is what the model saw in a turn, or would see next.
type request struct {
	SessionID      chat.SessionID `json:"session_id"`
	BranchID       chat.BranchID  `json:"branch_id"`
	TurnID         chat.TurnID    `json:"turn_id,omitempty"` // empty: the next request
	TurnSeq        int64          `json:"turn_seq,omitempty"`
	Usage          string         `json:"usage_format"`
	State          string         `json:"usage_state"` // without retrieved memory: plenty, filling, nearly full
	RecalledTokens int            `json:"recalled_tokens"`
	// Status says what the next request needs; nil for one that was sent.
	Status      *prompt.UsageStatus `json:"usage_status,omitempty"`
	Manifest    prompt.Manifest     `json:"manifest"`
	Items       []prompt.Text       `json:"items"`
	Recalled    []fields            `json:"recalled"`            // memory in it, and why
	LookedUp    []chat.LookedUp     `json:"looked_up,omitempty"` // by the model itself, with tools
	Same        bool                `json:"same"`                // assembled again, it has the stored hash
	Note        string              `json:"note,omitempty"`
	Reported    int                 `json:"reported_input_tokens,omitempty"`
	NotBelieved string              `json:"usage_not_believed,omitempty"`
	Cached      int                 `json:"cached_input_tokens,omitempty"`
	Diff        *difference         `json:"diff,omitempty"`

	why map[string]string // of the passages of memory, by their chunks
}

// difference is the difference from the previous request.
type difference struct {
	Against     chat.TurnID   `json:"against"`
	Added       []prompt.Text `json:"added"`
	Removed     []prompt.Text `json:"removed"`
	SharedBytes int           `json:"shared_prefix_bytes"`
	TotalBytes  int           `json:"total_bytes"`
}

// request returns the next request, or that of the turn that was named.
func (r *run) request(ctx context.Context) (*request, error) {
	x := &request{SessionID: r.session.ID, BranchID: r.branch.ID}
	if r.turn.ID == "" {
		p, _, err := r.s.Turns.Preview(ctx, x.BranchID, "", chat.UserText(" "))
		if err != nil {
			if st, ok := prompt.StatusOfError(err); ok {
				x.Status = &st
			}
			return x, err
		}
		st := p.Status()
		x.Manifest, x.Items, x.Same, x.Status = p.Manifest(), p.Texts(), true, &st
	} else if err := x.fill(ctx, r.s, r.turn); err != nil {
		return nil, err
	}
	u := prompt.UsageOf(x.Manifest)
	x.Usage, x.State, x.RecalledTokens = u.Format(), u.State(), u.Recalled
	recalled, err := r.s.Inspecting.Recalled(ctx, x.Manifest, x.Items)
	x.why = map[string]string{}
	x.Recalled = lists.Map(recalled, func(p inspecting.Recalled) fields {
		x.why[p.ID] = p.Match.String()
		return fields{
			{"chunk_id", p.ID},
			{"turn_id", p.Turn},
			{"rank", p.Rank},
			{"score", p.Score},
			{"matched_words", p.Match.Words},
			{"why", p.Match.String()},
		}
	})
	return x, err
}

// fill adds the request of a turn.
func (x *request) fill(ctx context.Context, s *Services, t chat.Turn) error {
	seen, err := s.Turns.ContextSeen(ctx, t.ID)
	if err != nil {
		return err
	}
	x.TurnID, x.TurnSeq, x.BranchID = t.ID, t.Seq, t.BranchID
	x.Manifest, x.Items, x.Same, x.Note = seen.Manifest, seen.Texts, seen.Same, seen.Note
	if u := t.Usage; u != nil {
		x.Reported, x.Cached, x.NotBelieved = u.InputTokens, u.CachedInputTokens, u.DroppedBecause
	}
	x.LookedUp, err = s.Inspecting.LookedUp(ctx, t.ID)
	return err
}

// compare adds the difference from the previous request, if there is one.
func (x *request) compare(ctx context.Context, s *Services) error {
	id, old, err := s.Inspecting.Before(ctx, x.BranchID, x.TurnSeq)
	if err != nil || id == "" {
		return err
	}
	d := prompt.Compare(old, x.Items)
	x.Diff = &difference{
		Against:     id,
		Added:       lists.Map(d.Added, func(i int) prompt.Text { return x.Items[i] }),
		Removed:     lists.Map(d.Removed, func(i int) prompt.Text { return old[i] }),
		SharedBytes: d.SharedBytes,
		TotalBytes:  d.TotalBytes,
	}
	return nil
}

func (x *request) print(o *output, text bool) {
	subject := "The next request"
	if x.TurnID != "" {
		subject = fmt.Sprintf("Turn %d", x.TurnSeq)
	}
	o.printf("%s: %s, %s, model %s\n", subject, x.Usage, x.State, line(x.Manifest.Model))
	x.printStatus(o)
	if x.RecalledTokens > 0 {
		tokens := plural(x.RecalledTokens, "token")
		o.printf("Of these, recalled memory: %s. It is left out when space is needed.\n", tokens)
	}
	o.printIf(x.NotBelieved != "", "The provider's token counts were ignored: %s.\n", line(x.NotBelieved))
	o.printIf(x.Reported > 0, "The provider counted %d input tokens, %d of them cached; the estimate was %d.\n",
		x.Reported, x.Cached, prompt.UsageOf(x.Manifest).Used)
	x.table().print(o)
	x.printNotes(o)
	if x.Diff != nil {
		x.Diff.print(o)
	}
	if text {
		for _, it := range x.Items {
			o.printf("\n--- %s, %s\n", it.Section, itemName(it.Part))
			o.text(it.Text + "\n")
		}
	}
}

// printStatus says what the next request needs, unless it needs nothing.
func (x *request) printStatus(o *output) {
	if x.Status == nil || x.Status.Kind == prompt.UsageReady {
		return
	}
	switch x.Status.Kind {
	case prompt.UsageNeedsSummarization:
		o.printf("Needs summarization: %s, turns %s.\n", plural(x.Status.Excess, "token"), line(ranges(x.Status.Turns)))
	case prompt.UsageRecentTooLarge:
		o.printf("The newest messages are too large: %d tokens of %d.\n", x.Status.Required, x.Status.Budget)
	}
	o.printf("%s\n", line(x.Status.Suggestion.String()))
}

// ranges writes numbers in order as "1-4, 7".
func ranges(list []int64) string {
	var out []string
	for i := 0; i < len(list); {
		last := i
		for last+1 < len(list) && list[last+1] == list[last]+1 {
			last++
		}
		text := fmt.Sprint(list[i])
		if last > i {
			text += fmt.Sprintf("-%d", list[last])
		}
		out = append(out, text)
		i = last + 1
	}
	return strings.Join(out, ", ")
}

func (x *request) printNotes(o *output) {
	o.printEach("shrunk %s\n", x.Manifest.Shrink)
	o.printEach("%s\n", x.Manifest.Notes)
	if why := x.Manifest.Inputs.RetrievalError; why != "" {
		o.printf("Memory was not searched: %s\n", line(why))
	}
	for _, l := range x.LookedUp {
		what := "a turn that no longer exists here"
		if l.TurnSeq > 0 {
			what = fmt.Sprintf("turn #%d of %s (%s)", l.TurnSeq, line(titleOf(l.Title)), l.Turn)
		}
		o.printf("looked up by the model with %s: %s\n", line(l.Tool), what)
	}
	for _, redacted := range x.Manifest.Redactions {
		o.printf("redacted %s (%s)\n", line(redacted.Rule), plural(redacted.Bytes, "byte"))
	}
	o.printIf(x.Note != "", "%s\n", line(x.Note))
}

// table lists the items, and for memory why it was recalled.
func (x *request) table() *table {
	t, size := newTable("SECTION|ITEM|>TOKENS|>BYTES"), x.Manifest.Budget.InModelTokens
	for _, s := range x.Manifest.Sections {
		t.add(s.Name, fmt.Sprintf("%.0f %% of the total, cap %d", 100*s.Share, size(s.Cap)), size(s.Tokens), "")
		for _, it := range s.Items {
			name := itemName(it)
			if why := x.why[it.ID]; it.Source == "chunk" && why != "" {
				name += ": " + line(why)
			}
			t.add("", name, size(it.Tokens), it.Bytes)
		}
	}
	return t
}

func (d difference) print(o *output) {
	o.printf("Since the previous request: %d of %d bytes at the start are the same; %s new, %d gone.\n",
		d.SharedBytes, d.TotalBytes, plural(len(d.Added), "item"), len(d.Removed))
	for _, it := range d.Removed {
		o.printf("- %s, %s: %s\n", it.Section, itemName(it.Part), clip(it.Text, 80))
	}
	for _, it := range d.Added {
		o.printf("+ %s, %s: %s\n", it.Section, itemName(it.Part), clip(it.Text, 80))
	}
}

// itemName describes an item in a few words.
func itemName(p prompt.Part) string {
	switch {
	case p.To > 0:
		return fmt.Sprintf("%s of turns %d to %d", p.Source, p.From, p.To-1)
	case p.Seq > 0:
		return fmt.Sprintf("turn %d, %s", p.Seq, p.Role)
	case p.ID != "":
		return p.Source + " " + p.ID
	}
	return strings.TrimSpace(p.Source + " " + p.Role)
}
