package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/config"
	"contextinfinity/backend/internal/display"
	"contextinfinity/backend/internal/lists"
)

type metricsFlags struct {
	branch string
	all    bool
	limit  int
}

func (c *call) metricsCommand() *cobra.Command {
	f := metricsFlags{}
	cmd := &cobra.Command{
		Use: "metrics [SESSION]", Short: "Print measurements of turns and of their provider calls", Args: atMost("SESSION"),
		Long: `Prints, newest first, tokens, times, retrieval, validation and indexing of each turn of a session's
active branch, of every provider call, and their totals, then the tokens and the cost of the summaries and titles that
a model wrote in the background for the whole session. Without SESSION, the session used last is shown.
Times are in milliseconds. Everything was measured on this computer and stays there.`,
	}
	cmd.Flags().StringVar(&f.branch, "branch", "", "the branch, instead of the session's active one")
	cmd.Flags().BoolVar(&f.all, "all", false, "the turns of all sessions")
	cmd.Flags().IntVar(&f.limit, "limit", 50, "at most this many turns (0: all)")
	cmd.RunE = c.run(func(ctx context.Context, args []string) (reply, error) {
		switch {
		case f.limit < 0:
			return reply{}, usagef("--limit must not be negative.")
		case f.all && (len(args) > 0 || f.branch != ""):
			return reply{}, usagef("--all excludes SESSION and --branch.")
		}
		return c.reading(ctx, func(s *Services) (reply, error) { return s.metrics(ctx, args, f) })
	})
	cmd.ValidArgsFunction = c.completeSession
	return cmd
}

func (s *Services) metrics(ctx context.Context, args []string, f metricsFlags) (reply, error) {
	b, err := s.measuredBranch(ctx, args, f)
	if err != nil {
		return reply{}, err
	}
	rows, err := s.Store.Measures(ctx, chat.MeasureQuery{Branch: b.ID, Limit: f.limit})
	if err != nil {
		return reply{}, err
	}
	doc := metricsReply{SessionID: b.SessionID, BranchID: b.ID, Turns: []turnMetrics{}}
	for _, r := range rows {
		m, err := s.turnMetrics(ctx, r)
		if err != nil {
			return reply{}, err
		}
		doc.Turns = append(doc.Turns, m)
		doc.Sum.add(m)
	}
	if b.SessionID != "" || f.all {
		if doc.Background, err = s.background(ctx, b.SessionID); err != nil {
			return reply{}, err
		}
	}
	if doc.Backlog.Queued, doc.Backlog.Running, doc.Backlog.Failed, err = s.Queue.JobCounts(ctx); err == nil {
		doc.Backlog.Unindexed, err = s.Store.Unindexed(ctx, b.SessionID)
	}
	return reply{doc: doc, text: doc.print}, err
}

// measuredBranch finds the requested branch; the zero value means all sessions.
func (s *Services) measuredBranch(ctx context.Context, args []string, f metricsFlags) (chat.Branch, error) {
	switch {
	case f.all:
		return chat.Branch{}, nil
	case len(args) > 0:
		_, b, err := s.place(ctx, args[0], f.branch)
		return b, err
	case f.branch != "":
		return s.anyBranch(ctx, f.branch)
	}
	last, ok, err := s.recent(ctx)
	if err != nil || !ok {
		return chat.Branch{}, err
	}
	return s.Sessions.Branch(ctx, last.ActiveBranch)
}

// metricsReply has the metrics of turns, newest first.
type metricsReply struct {
	SessionID chat.SessionID `json:"session_id,omitempty"`
	BranchID  chat.BranchID  `json:"branch_id,omitempty"` // empty: all sessions
	Turns     []turnMetrics  `json:"turns"`
	Sum       metricsSum     `json:"sum"`
	// Background is not in Sum.
	Background backgroundMetrics `json:"background"`
	Backlog    metricsBacklog    `json:"backlog"`
}

// backgroundMetrics is the usage of the calls that wrote the state summaries, titles and range summaries of a session,
// or of all sessions.
type backgroundMetrics struct {
	Summaries int        `json:"summaries"` // state and range summaries for which a model reported its usage
	Usage     chat.Usage `json:"usage"`
	// Cost is in US dollars, for the summaries with a known price; absent if there are none.
	Cost      *float64 `json:"cost,omitempty"`
	Estimate  bool     `json:"cost_is_estimate,omitempty"`
	CostToday bool     `json:"cost_at_todays_price,omitempty"` // no price was stored with some of them, so today's price is used
}

func (s *Services) background(ctx context.Context, session chat.SessionID) (backgroundMetrics, error) {
	used, err := s.Store.BackgroundUsage(ctx, chat.UsageQuery{Session: session})
	var b backgroundMetrics
	for _, u := range used {
		b.Summaries += u.Turns
		b.Usage = b.Usage.Add(u.Usage)
	}
	b.Usage.Cost = chat.Cost{} // Cost also includes those without a stored price
	if spent := s.Models.SpentInBackground(used); spent.Priced > 0 {
		b.Cost, b.Estimate, b.CostToday = &spent.Amount, spent.Estimate, spent.Today > 0
	}
	return b, err
}

// print writes one line, or nothing if no model was called.
func (b backgroundMetrics) print(o *output) {
	if b.Summaries == 0 {
		return
	}
	cost := "price not known"
	if b.Cost != nil {
		cost = amount(*b.Cost, b.Estimate)
	}
	o.printf("Background, not in the sum: %s (with titles), %s in, %d out, %s.\n", display.Count(b.Summaries, "summary", "summaries"),
		plural(b.Usage.InputTokens, "token"), b.Usage.OutputTokens, cost)
}

// turnMetrics are the metrics of a turn (SRD 15.1).
type turnMetrics struct {
	TurnID    chat.TurnID    `json:"turn_id"`
	TurnSeq   int64          `json:"turn_seq"`
	SessionID chat.SessionID `json:"session_id"`
	At        time.Time      `json:"at"`
	Model     string         `json:"model"`
	Usage     chat.Usage     `json:"usage"` // as the provider reported it
	// Cost is in US dollars by the model's price at the time of the answer; absent where none is known. Estimate: the
	// price is not a configured one. CostToday: no price was stored with the answer, so today's is used.
	Cost      *float64 `json:"cost,omitempty"`
	Estimate  bool     `json:"cost_is_estimate,omitempty"`
	CostToday bool     `json:"cost_at_todays_price,omitempty"`
	chat.TurnMetrics
	FirstByteMs int64            `json:"first_byte_ms"`
	Phase       chat.Phase       `json:"phase"`
	IndexStatus chat.IndexStatus `json:"index_status"`
	Steps       []stepMetrics    `json:"steps"`
}

// stepMetrics are the metrics of a provider call.
type stepMetrics struct {
	StepID         chat.StepID     `json:"step_id"`
	Index          int             `json:"step_index"`
	Attempt        int             `json:"attempt"`
	Status         chat.StepStatus `json:"status"`
	Reason         string          `json:"reason,omitempty"`
	ErrorCode      chat.Code       `json:"error_code,omitempty"`
	ErrorMessage   string          `json:"error_message,omitempty"`
	DisplayedBytes int64           `json:"displayed_bytes"`
	DurableBytes   int64           `json:"durable_bytes"`
}

// metricsBacklog is the waiting background work of all sessions; Unindexed is for the requested session.
type metricsBacklog struct {
	Queued    int `json:"queued"`
	Running   int `json:"running"`
	Failed    int `json:"dead"`
	Unindexed int `json:"unindexed"`
}

func (s *Services) turnMetrics(ctx context.Context, r chat.TurnMeasure) (turnMetrics, error) {
	m := turnMetrics{
		TurnID: r.TurnID, TurnSeq: r.TurnSeq, SessionID: r.Session, At: r.At, Model: r.Model, Usage: r.Usage, TurnMetrics: r.Metrics,
		FirstByteMs: r.FirstByte, Steps: []stepMetrics{},
	}
	if cost, today := s.Models.Cost(r.Model, r.Usage); cost.Known() {
		m.Cost, m.Estimate, m.CostToday = &cost.USD, cost.Estimate(), today
	}
	t, err := s.Store.Turn(ctx, r.TurnID)
	if err != nil {
		return m, err
	}
	m.Phase, m.IndexStatus = t.Phase, t.IndexStatus
	steps, err := s.Store.Steps(ctx, r.TurnID)
	for _, st := range steps {
		m.Steps = append(m.Steps, stepMetrics{
			StepID: st.ID, Index: st.Index, Attempt: st.Attempt, Status: st.Outcome.Status, Reason: st.Outcome.Reason,
			ErrorCode: st.Outcome.Code, ErrorMessage: st.Outcome.Message, DisplayedBytes: st.DisplayedBytes, DurableBytes: st.DurableBytes,
		})
	}
	return m, err
}

// metricsSum is the sum over the turns.
type metricsSum struct {
	Turns              int        `json:"turns"`
	Usage              chat.Usage `json:"usage"`
	Cost               float64    `json:"cost"` // in US dollars, of the turns whose price is known
	CostIsEstimate     bool       `json:"cost_is_estimate"`
	TurnsWithoutPrice  int        `json:"turns_without_price"`
	EstimateTokens     int64      `json:"estimate_tokens"`
	SearchMs           int64      `json:"search_ms"`
	EmbedMs            int64      `json:"embed_ms"`
	AssembleMs         int64      `json:"assemble_ms"`
	FirstByteMs        int64      `json:"first_byte_ms"`
	StreamMs           int64      `json:"stream_ms"`
	SummarizeMs        int64      `json:"summarize_ms"`
	IndexMs            int64      `json:"index_ms"`
	Candidates         int64      `json:"candidates"`
	Selected           int64      `json:"selected"`
	PackedTokens       int64      `json:"packed_tokens"`
	RetrievalsFailed   int        `json:"retrievals_failed"`
	ValidationPassed   int        `json:"validation_passed"`
	ValidationRepaired int        `json:"validation_repaired"`
	ValidationFailed   int        `json:"validation_failed"`
	ValidationTries    int        `json:"validation_tries"`
	Indexed            int        `json:"indexed"` // turns that are indexed
	Steps              int        `json:"steps"`
	StepsFailed        int        `json:"steps_failed"`
	DisplayedBytes     int64      `json:"displayed_bytes"`
	DurableBytes       int64      `json:"durable_bytes"`
}

func (s *metricsSum) add(m turnMetrics) {
	s.Turns++
	s.Usage = s.Usage.Add(m.Usage)
	s.addCost(m)
	s.EstimateTokens += int64(m.EstimateTokens)
	s.SearchMs += m.SearchMs
	s.EmbedMs += m.EmbedMs
	s.AssembleMs += m.AssembleMs
	s.FirstByteMs += m.FirstByteMs
	s.StreamMs += m.StreamMs
	s.SummarizeMs += m.SummarizeMs
	s.IndexMs += m.IndexMs
	s.Candidates += int64(m.Candidates)
	s.Selected += int64(m.Selected)
	s.PackedTokens += int64(m.PackedTokens)
	s.ValidationTries += m.ValidationTries
	if m.RetrievalFailed {
		s.RetrievalsFailed++
	}
	if m.IndexStatus == chat.IndexOK {
		s.Indexed++
	}
	switch m.ValidationResult {
	case chat.CheckPassed:
		s.ValidationPassed++
	case chat.CheckRepaired:
		s.ValidationRepaired++
	case chat.CheckFailed:
		s.ValidationFailed++
	}
	for _, st := range m.Steps {
		s.Steps++
		s.DisplayedBytes += st.DisplayedBytes
		s.DurableBytes += st.DurableBytes
		if st.Status == chat.StepFailed {
			s.StepsFailed++
		}
	}
}

func (s *metricsSum) addCost(m turnMetrics) {
	switch {
	case m.Cost != nil:
		s.Cost += *m.Cost
		s.CostIsEstimate = s.CostIsEstimate || m.Estimate
	case m.Model != config.Recall:
		s.TurnsWithoutPrice++
	}
}

func (r metricsReply) print(o *output) {
	if len(r.Turns) == 0 {
		o.printf("Nothing has been measured yet.\n")
		return
	}
	t := newTable("TURN", "IN", "ESTIMATED", "CACHED", "OUT", "COST", "SEARCH", "EMBED", "ASSEMBLE", "FIRST BYTE", "STREAM", "SUMMARIZE", "INDEX",
		"MEMORY", "SIMILARITY", "CHECK", "INDEXED", "CALLS").numbers(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)
	for _, m := range r.Turns {
		t.add("#"+decimal(m.TurnSeq), decimal(int64(m.Usage.InputTokens)), decimal(int64(m.EstimateTokens)), decimal(int64(m.Usage.CachedInputTokens)),
			decimal(int64(m.Usage.OutputTokens)), m.cost(), decimal(m.SearchMs), decimal(m.EmbedMs), decimal(m.AssembleMs), decimal(m.FirstByteMs),
			decimal(m.StreamMs), decimal(m.SummarizeMs), decimal(m.IndexMs), m.memory(), m.similarity(), m.check(), string(m.IndexStatus), m.calls())
	}
	s := r.Sum
	t.add("sum", decimal(int64(s.Usage.InputTokens)), decimal(s.EstimateTokens), decimal(int64(s.Usage.CachedInputTokens)), decimal(int64(s.Usage.OutputTokens)), s.cost(),
		decimal(s.SearchMs), decimal(s.EmbedMs), decimal(s.AssembleMs), decimal(s.FirstByteMs), decimal(s.StreamMs), decimal(s.SummarizeMs), decimal(s.IndexMs),
		fmt.Sprintf("%d of %d, %s", s.Selected, s.Candidates, plural(int(s.PackedTokens), "token")), "",
		fmt.Sprintf("%d passed, %d repaired, %d failed", s.ValidationPassed, s.ValidationRepaired, s.ValidationFailed),
		fmt.Sprintf("%d of %d", s.Indexed, s.Turns), fmt.Sprintf("%d, %d failed", s.Steps, s.StepsFailed))
	t.print(o)
	r.Background.print(o)
	for _, m := range r.Turns {
		m.printFailures(o)
	}
	o.printf("Tokens and milliseconds. Backlog: %s queued, %d running, %d failed, %s not indexed.\n",
		plural(r.Backlog.Queued, "job"), r.Backlog.Running, r.Backlog.Failed, plural(r.Backlog.Unindexed, "turn"))
}

// cost formats an amount, with "~" for an estimate; "-" if no price is known.
func (m turnMetrics) cost() string {
	if m.Cost == nil {
		return "-"
	}
	return amount(*m.Cost, m.Estimate)
}

func (s metricsSum) cost() string {
	if s.Cost == 0 {
		return "-"
	}
	return amount(s.Cost, s.CostIsEstimate)
}

func amount(cost float64, estimate bool) string {
	text := "$" + strconv.FormatFloat(cost, 'f', 4, 64)
	if estimate {
		return "~" + text
	}
	return text
}

func (m turnMetrics) memory() string {
	switch {
	case m.RetrievalFailed:
		return "failed"
	case m.Candidates == 0:
		return "-"
	}
	return fmt.Sprintf("%d of %d, %s", m.Selected, m.Candidates, plural(m.PackedTokens, "token"))
}

func (m turnMetrics) similarity() string {
	if m.SimilarityMax == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f to %.2f", m.SimilarityMin, m.SimilarityMax)
}

func (m turnMetrics) check() string {
	if m.ValidationResult == "" {
		return "-"
	}
	return fmt.Sprintf("%s, %s", m.ValidationResult, display.Count(m.ValidationTries, "attempt", "attempts"))
}

// calls lists the different outcomes of a turn's provider calls.
func (m turnMetrics) calls() string {
	out := lists.Map(m.Steps, func(st stepMetrics) string {
		return fmt.Sprintf("%s %d/%d bytes", st.Status, st.DurableBytes, st.DisplayedBytes)
	})
	return strings.Join(out, ", ")
}

func (m turnMetrics) printFailures(o *output) {
	if m.RetrievalError != "" {
		o.printf("#%d: memory was not searched: %s\n", m.TurnSeq, line(m.RetrievalError))
	}
	for _, st := range m.Steps {
		if st.ErrorCode != "" {
			o.printf("#%d: attempt %d failed (%s): %s\n", m.TurnSeq, st.Attempt, st.ErrorCode, line(st.ErrorMessage))
		}
	}
}
