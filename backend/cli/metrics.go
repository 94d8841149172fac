package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/config"
	"contextinfinity/backend/internal/display"
	"contextinfinity/backend/internal/lists"
)

func metricsVerb() verb {
	return verb{
		use:   "metrics [SESSION]",
		short: "Print measurements of turns and of their provider calls",
		long: `Prints, newest first, tokens, times, retrieval, validation and indexing of each turn of a session's
active branch, of every provider call, and their totals, then the tokens and the cost of the summaries and titles that
a model wrote in the background for the whole session. Without SESSION, the session used last is shown.
Times are in milliseconds. Everything was measured on this computer and stays there.`,
		flags: []flag{
			branchFlag,
			boolFlag("all", "the turns of all sessions"),
			numberFlag("limit", 0, 50, "at most this many turns (0: all)"),
		},
		prepare: func(_ context.Context, r *run) error {
			if r.on("all") && (len(r.args) > 0 || r.given("branch")) {
				return usagef("--all excludes SESSION and --branch.")
			}
			return nil
		},
		opens: reads,
		do:    listMetrics,
	}
}

// metrics are those of turns, newest first.
type metrics struct {
	SessionID  chat.SessionID `json:"session_id,omitempty"`
	BranchID   chat.BranchID  `json:"branch_id,omitempty"` // empty: all sessions
	Turns      []turnMetrics  `json:"turns"`
	Sum        metricsSum     `json:"sum"`
	Background background     `json:"background"` // not in the sum
	Backlog    backlog        `json:"backlog"`
}

// background is the usage of the calls that wrote the state summaries, titles and range summaries of a session, or of
// all sessions.
type background struct {
	Summaries int        `json:"summaries"` // state and range summaries for which a model reported its usage
	Usage     chat.Usage `json:"usage"`
	price
}

// price is a cost in US dollars by the prices at the time of the answers; absent where none is known.
type price struct {
	Cost      *float64 `json:"cost,omitempty"`
	Estimate  bool     `json:"cost_is_estimate,omitempty"`     // the price is not a configured one
	CostToday bool     `json:"cost_at_todays_price,omitempty"` // no price was stored, so today's is used
}

// backlog is the waiting background work of all sessions; Unindexed is for the requested session.
type backlog struct {
	Queued    int `json:"queued"`
	Running   int `json:"running"`
	Failed    int `json:"dead"`
	Unindexed int `json:"unindexed"`
}

// turnMetrics are the metrics of a turn (SRD 15.1).
type turnMetrics struct {
	TurnID    chat.TurnID    `json:"turn_id"`
	TurnSeq   int64          `json:"turn_seq"`
	SessionID chat.SessionID `json:"session_id"`
	At        time.Time      `json:"at"`
	Model     string         `json:"model"`
	Usage     chat.Usage     `json:"usage"` // as the provider reported it
	price
	chat.TurnMetrics
	FirstByteMs int64            `json:"first_byte_ms"`
	Phase       chat.Phase       `json:"phase"`
	IndexStatus chat.IndexStatus `json:"index_status"`
	Steps       []fields         `json:"steps"`

	steps []chat.Step
}

func listMetrics(ctx context.Context, r *run) (_ reply, err error) {
	var b chat.Branch
	if !r.on("all") {
		if b, err = r.branchOrLast(ctx); err != nil {
			return reply{}, err
		}
	}
	rows, err := r.s.Store.Measures(ctx, chat.MeasureQuery{Branch: b.ID, Limit: r.number("limit")})
	if err != nil {
		return reply{}, err
	}
	x := metrics{SessionID: b.SessionID, BranchID: b.ID, Turns: []turnMetrics{}}
	for _, row := range rows {
		m, err := r.s.turnMetrics(ctx, row)
		if err != nil {
			return reply{}, err
		}
		x.Turns = append(x.Turns, m)
		x.Sum.add(m)
	}
	if b.SessionID != "" || r.on("all") {
		if x.Background, err = r.s.background(ctx, b.SessionID); err != nil {
			return reply{}, err
		}
	}
	if x.Backlog.Queued, x.Backlog.Running, x.Backlog.Failed, err = r.s.Queue.JobCounts(ctx); err == nil {
		x.Backlog.Unindexed, err = r.s.Store.Unindexed(ctx, b.SessionID)
	}
	return reply{doc: x, text: x.print}, err
}

func (s *Services) background(ctx context.Context, session chat.SessionID) (background, error) {
	used, err := s.Store.BackgroundUsage(ctx, chat.UsageQuery{Session: session})
	var b background
	for _, u := range used {
		b.Summaries += u.Turns
		b.Usage = b.Usage.Add(u.Usage)
	}
	b.Usage.Cost = chat.Cost{} // price also includes those without a stored price
	if spent := s.Models.SpentInBackground(used); spent.Priced > 0 {
		b.price = price{&spent.Amount, spent.Estimate, spent.Today > 0}
	}
	return b, err
}

func (s *Services) turnMetrics(ctx context.Context, r chat.TurnMeasure) (turnMetrics, error) {
	m := turnMetrics{
		TurnID:      r.TurnID,
		TurnSeq:     r.TurnSeq,
		SessionID:   r.Session,
		At:          r.At,
		Model:       r.Model,
		Usage:       r.Usage,
		TurnMetrics: r.Metrics,
		FirstByteMs: r.FirstByte,
	}
	if cost, today := s.Models.Cost(r.Model, r.Usage); cost.Known() {
		m.price = price{&cost.USD, cost.Estimate(), today}
	}
	t, err := s.Store.Turn(ctx, r.TurnID)
	if err != nil {
		return m, err
	}
	m.Phase, m.IndexStatus = t.Phase, t.IndexStatus
	m.steps, err = s.Store.Steps(ctx, r.TurnID)
	m.Steps = lists.Map(m.steps, stepMetrics)
	return m, err
}

// stepMetrics are the metrics of a provider call.
func stepMetrics(st chat.Step) fields {
	return fields{
		{"step_id", st.ID},
		{"step_index", st.Index},
		{"attempt", st.Attempt},
		{"status", st.Outcome.Status},
		{"reason,omitempty", st.Outcome.Reason},
		{"error_code,omitempty", st.Outcome.Code},
		{"error_message,omitempty", st.Outcome.Message},
		{"displayed_bytes", st.DisplayedBytes},
		{"durable_bytes", st.DurableBytes},
	}
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
	switch {
	case m.Cost != nil:
		s.Cost += *m.Cost
		s.CostIsEstimate = s.CostIsEstimate || m.Estimate
	case m.Model != config.Recall:
		s.TurnsWithoutPrice++
	}
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
	for _, st := range m.steps {
		s.Steps++
		s.DisplayedBytes += st.DisplayedBytes
		s.DurableBytes += st.DurableBytes
		if st.Outcome.Status == chat.StepFailed {
			s.StepsFailed++
		}
	}
}

func (x metrics) print(o *output) {
	if len(x.Turns) == 0 {
		o.printf("Nothing has been measured yet.\n")
		return
	}
	const headings = "TURN|>IN|>ESTIMATED|>CACHED|>OUT|>COST|>SEARCH|>EMBED|>ASSEMBLE|>FIRST BYTE|>STREAM|>SUMMARIZE|" +
		">INDEX|MEMORY|SIMILARITY|CHECK|INDEXED|CALLS"
	t := tableOf(headings, x.Turns, turnMetrics.cells)
	t.add(x.Sum.cells()...)
	t.print(o)
	x.Background.print(o)
	for _, m := range x.Turns {
		m.printFailures(o)
	}
	o.printf("Tokens and milliseconds. Backlog: %s queued, %d running, %d failed, %s not indexed.\n",
		plural(x.Backlog.Queued, "job"), x.Backlog.Running, x.Backlog.Failed, plural(x.Backlog.Unindexed, "turn"))
}

func (m turnMetrics) cells() []any {
	memory, similarity, check := "-", "-", "-"
	switch {
	case m.RetrievalFailed:
		memory = "failed"
	case m.Candidates > 0:
		memory = fmt.Sprintf("%d of %d, %s", m.Selected, m.Candidates, plural(m.PackedTokens, "token"))
	}
	if m.SimilarityMax != 0 {
		similarity = fmt.Sprintf("%.2f to %.2f", m.SimilarityMin, m.SimilarityMax)
	}
	if m.ValidationResult != "" {
		attempts := display.Count(m.ValidationTries, "attempt", "attempts")
		check = fmt.Sprintf("%s, %s", m.ValidationResult, attempts)
	}
	calls := lists.Map(m.steps, func(st chat.Step) string {
		return fmt.Sprintf("%s %d/%d bytes", st.Outcome.Status, st.DurableBytes, st.DisplayedBytes)
	})
	u := m.Usage
	return []any{
		"#" + decimal(m.TurnSeq), u.InputTokens, m.EstimateTokens, u.CachedInputTokens, u.OutputTokens, m.amount("-"),
		m.SearchMs, m.EmbedMs, m.AssembleMs, m.FirstByteMs, m.StreamMs, m.SummarizeMs, m.IndexMs,
		memory, similarity, check, m.IndexStatus, strings.Join(calls, ", "),
	}
}

func (s metricsSum) cells() []any {
	var cost price
	if s.Cost != 0 {
		cost = price{Cost: &s.Cost, Estimate: s.CostIsEstimate}
	}
	return []any{
		"sum", s.Usage.InputTokens, s.EstimateTokens, s.Usage.CachedInputTokens, s.Usage.OutputTokens, cost.amount("-"),
		s.SearchMs, s.EmbedMs, s.AssembleMs, s.FirstByteMs, s.StreamMs, s.SummarizeMs, s.IndexMs,
		fmt.Sprintf("%d of %d, %s", s.Selected, s.Candidates, plural(int(s.PackedTokens), "token")), "",
		fmt.Sprintf("%d passed, %d repaired, %d failed", s.ValidationPassed, s.ValidationRepaired, s.ValidationFailed),
		fmt.Sprintf("%d of %d", s.Indexed, s.Turns), fmt.Sprintf("%d, %d failed", s.Steps, s.StepsFailed),
	}
}

// amount formats a cost, with "~" for an estimate.
func (p price) amount(unknown string) string {
	if p.Cost == nil {
		return unknown
	}
	text := "$" + strconv.FormatFloat(*p.Cost, 'f', 4, 64)
	if p.Estimate {
		return "~" + text
	}
	return text
}

// print writes one line, or nothing if no model was called.
func (b background) print(o *output) {
	if b.Summaries == 0 {
		return
	}
	o.printf("Background, not in the sum: %s (with titles), %s in, %d out, %s.\n",
		display.Count(b.Summaries, "summary", "summaries"), plural(b.Usage.InputTokens, "token"),
		b.Usage.OutputTokens, b.amount("price not known"))
}

func (m turnMetrics) printFailures(o *output) {
	o.printIf(m.RetrievalError != "", "#%d: memory was not searched: %s\n", m.TurnSeq, line(m.RetrievalError))
	for _, st := range m.steps {
		if st.Outcome.Code != "" {
			message := line(st.Outcome.Message)
			o.printf("#%d: attempt %d failed (%s): %s\n", m.TurnSeq, st.Attempt, st.Outcome.Code, message)
		}
	}
}
