package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/prompt"
)

// contextReply is what the model saw in a turn, or would see next.
type contextReply struct {
	SessionID      chat.SessionID  `json:"session_id"`
	BranchID       chat.BranchID   `json:"branch_id"`
	TurnID         chat.TurnID     `json:"turn_id,omitempty"` // empty: the next request
	TurnSeq        int64           `json:"turn_seq,omitempty"`
	Usage          string          `json:"usage_format"`
	State          string          `json:"usage_state"` // without retrieved memory: plenty, filling, nearly full
	RecalledTokens int             `json:"recalled_tokens"`
	Manifest       prompt.Manifest `json:"manifest"`
	Items          []prompt.Text   `json:"items"`
	Recalled       []recalledRow   `json:"recalled"`            // memory in it, and why
	LookedUp       []chat.LookedUp `json:"looked_up,omitempty"` // by the model itself, with tools
	Same           bool            `json:"same"`                // assembled again, it has the stored hash
	Note           string          `json:"note,omitempty"`
	Reported       int             `json:"reported_input_tokens,omitempty"`
	NotBelieved    string          `json:"usage_not_believed,omitempty"`
	Cached         int             `json:"cached_input_tokens,omitempty"`
	Diff           *contextDiff    `json:"diff,omitempty"`
}

// recalledRow explains why a request contains a passage of memory.
type recalledRow struct {
	ChunkID chat.ChunkID `json:"chunk_id"`
	TurnID  chat.TurnID  `json:"turn_id"`
	Rank    int          `json:"rank"`
	Score   float64      `json:"score"`
	Matched []string     `json:"matched_words"`
	Why     string       `json:"why"`
}

// contextDiff is the difference from the previous request.
type contextDiff struct {
	Against     chat.TurnID   `json:"against"`
	Added       []prompt.Text `json:"added"`
	Removed     []prompt.Text `json:"removed"`
	SharedBytes int           `json:"shared_prefix_bytes"`
	TotalBytes  int           `json:"total_bytes"`
}

func (c *call) contextCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "context SESSION", Short: "Show what the model saw in a turn, or would see next",
		Long: "Without --turn, shows what the next request would contain. Each item is listed with its source and size;\n" +
			"--text prints the items' exact texts, --diff what changed since the previous request.",
		Args: exactly("SESSION"),
	}
	branch := branchFlag(cmd)
	turnID := cmd.Flags().String("turn", "", "a turn that was sent, instead of the next request")
	diff := cmd.Flags().Bool("diff", false, "compare with the previous request")
	text := cmd.Flags().Bool("text", false, "print the exact text of every item")
	cmd.RunE = c.reads(func(ctx context.Context, s *Services, args []string) (reply, error) {
		session, b, err := s.place(ctx, args[0], *branch)
		if err != nil {
			return reply{}, err
		}
		doc := contextReply{SessionID: session.ID, BranchID: b.ID}
		if err := s.fillContext(ctx, &doc, *turnID, *diff); err != nil {
			return reply{}, err
		}
		return reply{doc: doc, text: func(o *output) { doc.print(o, *text) }}, nil
	})
	cmd.ValidArgsFunction = c.completeSession
	return cmd
}

func (s *Services) fillContext(ctx context.Context, doc *contextReply, turnID string, diff bool) error {
	before := int64(0)
	if turnID == "" {
		p, _, err := s.Turns.Preview(ctx, doc.BranchID, "", chat.UserText(" "))
		if err != nil {
			return err
		}
		doc.Manifest, doc.Items, doc.Same = p.Manifest(), p.Texts(), true
	} else {
		t, err := s.turn(ctx, turnID)
		if err != nil {
			return err
		}
		before = t.Seq
		if err := s.fillSeen(ctx, doc, t); err != nil {
			return err
		}
	}
	u := prompt.UsageOf(doc.Manifest)
	doc.Usage, doc.State, doc.RecalledTokens = u.Format(), u.State(), u.Recalled
	if err := s.fillRecalled(ctx, doc); err != nil {
		return err
	}
	if !diff {
		return nil
	}
	return s.fillDiff(ctx, doc, before)
}

func (s *Services) fillSeen(ctx context.Context, doc *contextReply, t chat.Turn) error {
	seen, err := s.Turns.ContextSeen(ctx, t.ID)
	if err != nil {
		return err
	}
	doc.TurnID, doc.TurnSeq, doc.BranchID = t.ID, t.Seq, t.BranchID
	doc.Manifest, doc.Items, doc.Same, doc.Note = seen.Manifest, seen.Texts, seen.Same, seen.Note
	if doc.LookedUp, err = s.Inspecting.LookedUp(ctx, t.ID); err != nil {
		return err
	}
	if t.Usage != nil {
		doc.Reported, doc.Cached = t.Usage.InputTokens, t.Usage.CachedInputTokens
		doc.NotBelieved = t.Usage.DroppedBecause
	}
	return nil
}

// fillRecalled adds the passages of memory, and why each was recalled.
func (s *Services) fillRecalled(ctx context.Context, doc *contextReply) error {
	recalled, err := s.Inspecting.Recalled(ctx, doc.Manifest, doc.Items)
	doc.Recalled = []recalledRow{}
	for _, r := range recalled {
		doc.Recalled = append(doc.Recalled, recalledRow{
			ChunkID: chat.ChunkID(r.ID), TurnID: chat.TurnID(r.Turn), Rank: r.Rank, Score: r.Score,
			Matched: append([]string{}, r.Match.Words...), Why: r.Match.String(),
		})
	}
	return err
}

func (s *Services) fillDiff(ctx context.Context, doc *contextReply, before int64) error {
	id, old, err := s.Inspecting.Before(ctx, doc.BranchID, before)
	if err != nil || id == "" {
		return err
	}
	d := prompt.Compare(old, doc.Items)
	doc.Diff = &contextDiff{Against: id, SharedBytes: d.SharedBytes, TotalBytes: d.TotalBytes, Added: []prompt.Text{}, Removed: []prompt.Text{}}
	for _, i := range d.Added {
		doc.Diff.Added = append(doc.Diff.Added, doc.Items[i])
	}
	for _, i := range d.Removed {
		doc.Diff.Removed = append(doc.Diff.Removed, old[i])
	}
	return nil
}

func (r contextReply) print(o *output, text bool) {
	subject := "The next request"
	if r.TurnID != "" {
		subject = fmt.Sprintf("Turn %d", r.TurnSeq)
	}
	o.printf("%s: %s, %s, model %s\n", subject, r.Usage, r.State, line(r.Manifest.Model))
	if r.RecalledTokens > 0 {
		o.printf("Of these, recalled memory: %s. It is left out when space is needed.\n", plural(r.RecalledTokens, "token"))
	}
	if r.NotBelieved != "" {
		o.printf("The provider's token counts were ignored: %s.\n", line(r.NotBelieved))
	}
	if r.Reported > 0 {
		o.printf("The provider counted %d input tokens, %d of them cached; the estimate was %d.\n", r.Reported, r.Cached, r.Manifest.TotalTokens)
	}
	r.table().print(o)
	for _, s := range r.Manifest.Shrink {
		o.printf("shrunk %s\n", line(s))
	}
	for _, s := range r.Manifest.Notes {
		o.printf("%s\n", line(s))
	}
	if why := r.Manifest.Inputs.RetrievalError; why != "" {
		o.printf("Memory was not searched: %s\n", line(why))
	}
	for _, l := range r.LookedUp {
		o.printf("%s\n", lookedUpLine(l))
	}
	for _, x := range r.Manifest.Redactions {
		o.printf("redacted %s (%s)\n", line(x.Rule), plural(x.Bytes, "byte"))
	}
	if r.Note != "" {
		o.printf("%s\n", line(r.Note))
	}
	if r.Diff != nil {
		r.Diff.print(o)
	}
	if text {
		for _, it := range r.Items {
			o.printf("\n--- %s, %s\n%s\n", it.Section, itemName(it.Part), it.Text)
		}
	}
}

// lookedUpLine describes a turn that the model looked up with a tool.
func lookedUpLine(l chat.LookedUp) string {
	if l.TurnSeq == 0 {
		return "looked up by the model with " + line(l.Tool) + ": a turn that no longer exists here"
	}
	return fmt.Sprintf("looked up by the model with %s: turn #%d of %s (%s)", line(l.Tool), l.TurnSeq, line(titleOf(l.Title)), l.Turn)
}

// table lists the items, and for memory why it was recalled.
func (r contextReply) table() *table {
	whys := map[string]string{}
	for _, x := range r.Recalled {
		whys[string(x.ChunkID)] = x.Why
	}
	t := newTable("SECTION", "ITEM", "TOKENS", "BYTES").numbers(2, 3)
	for _, s := range r.Manifest.Sections {
		t.add(s.Name, fmt.Sprintf("%.0f %% of the total, cap %d", 100*s.Share, s.Cap), decimal(int64(s.Tokens)), "")
		for _, it := range s.Items {
			name := itemName(it)
			if why := whys[it.ID]; it.Source == "chunk" && why != "" {
				name += ": " + line(why)
			}
			t.add("", name, decimal(int64(it.Tokens)), decimal(int64(it.Bytes)))
		}
	}
	return t
}

func (d contextDiff) print(o *output) {
	o.printf("Since the previous request: %d of %d bytes at the start are the same; %s new, %d gone.\n",
		d.SharedBytes, d.TotalBytes, plural(len(d.Added), "item"), len(d.Removed))
	for _, it := range d.Removed {
		o.printf("- %s, %s: %s\n", it.Section, itemName(it.Part), clip(line(it.Text), 80))
	}
	for _, it := range d.Added {
		o.printf("+ %s, %s: %s\n", it.Section, itemName(it.Part), clip(line(it.Text), 80))
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

type summarizeReply struct {
	SessionID  chat.SessionID      `json:"session_id"`
	BranchID   chat.BranchID       `json:"branch_id"`
	Summarized int                 `json:"summarized"`
	Ranges     []chat.RangeSummary `json:"ranges"`

	forced bool
}

func (c *call) summarizeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "summarize SESSION", Short: "Summarize old turns now", Args: exactly("SESSION"),
		Long: "History that no longer fits is sent as range summaries, which are made in the background. This makes those\n" +
			"that are due now, and lists all of them. With --force it also summarizes turns that still fit, except the\n" +
			"newest: they are sent in full until they no longer fit, and then their summaries are ready.",
	}
	branch := branchFlag(cmd)
	force := cmd.Flags().Bool("force", false, "summarize all turns except the newest, even if they still fit")
	cmd.RunE = c.writes(func(ctx context.Context, s *Services, args []string) (reply, error) {
		session, b, err := s.place(ctx, args[0], *branch)
		if err != nil {
			return reply{}, err
		}
		doc := summarizeReply{SessionID: session.ID, BranchID: b.ID, forced: *force}
		if doc.Summarized, err = s.Jobs.SummarizeRanges(ctx, b.ID, *force); err != nil {
			return reply{}, err
		}
		doc.Ranges, err = s.Inspecting.Summaries(ctx, b.ID)
		doc.Ranges = append([]chat.RangeSummary{}, doc.Ranges...)
		return reply{doc: doc, text: doc.print}, err
	})
	cmd.ValidArgsFunction = c.completeSession
	return cmd
}

func (r summarizeReply) print(o *output) {
	if r.Summarized > 0 {
		o.printf("Ran %s.\n", plural(r.Summarized, "summarization job"))
	}
	switch {
	case len(r.Ranges) > 0:
	case r.forced:
		o.printf("No range is summarized: there are too few turns before the newest ones, which are always sent in full.\n")
		return
	default:
		o.printf("The whole conversation still fits: no range was summarized. --force summarizes all turns but the newest.\n")
		return
	}
	t := newTable("TURNS", "TOKENS", "OF", "BY").numbers(1, 2)
	for _, s := range r.Ranges {
		t.add(fmt.Sprintf("%d to %d", s.From, s.To-1), count(s.TokenCount), count(s.OriginalTokens), line(s.GeneratedBy))
	}
	t.print(o)
}
