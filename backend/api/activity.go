package api

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
)

// activityJobs and activityTurns limit the jobs and turns in the Activity tab.
const (
	activityJobs  = 100
	activityTurns = 30
)

// Activity returns the Activity tab of a branch.
func (s *Inspect) Activity(branchID string) (ActivityPanel, error) {
	p := ActivityPanel{Turns: []TurnMetrics{}, Earlier: []RecoveryReport{}}
	ctx := s.c.ctx()
	jobs, err := s.c.Queue.Jobs(ctx, chat.JobQuery{Limit: activityJobs + 1})
	if err != nil {
		return p, err
	}
	p.MoreJobs = len(jobs) > activityJobs
	p.Jobs = lists.Map(jobs[:min(len(jobs), activityJobs)], func(j chat.Job) JobView { return s.c.jobView(ctx, j) })
	if p.Queued, p.Running, p.Failed, err = s.c.Queue.JobCounts(ctx); err != nil {
		return p, err
	}
	chunks, err := s.c.Jobs.ChunkProgress(ctx)
	if err != nil {
		return p, err
	}
	if chunks != nil {
		p.Chunks = &ChunkProgress{Written: chunks.Written, Waiting: chunks.Waiting, Tokens: chunks.Tokens, Limit: chunks.Limit}
	}
	turn, title := s.c.turns(ctx), s.c.titles(ctx)
	p.Recovery = recoveryView(s.c.Reconciler.Report(), turn, title)
	for _, r := range s.c.Reconciler.Earlier() {
		p.Earlier = append(p.Earlier, recoveryView(r, turn, title))
	}
	if branchID == "" {
		return p, nil
	}
	rows, err := s.c.Store.Metrics(ctx, chat.BranchID(branchID), activityTurns)
	p.Turns = lists.Map(rows, metricsView)
	return p, err
}

func metricsView(r chat.TurnMetricsRow) TurnMetrics {
	m := r.Metrics
	return TurnMetrics{
		TurnID: string(r.TurnID), TurnSeq: r.TurnSeq, EstimateTokens: m.EstimateTokens,
		InputTokens: r.Usage.InputTokens, OutputTokens: r.Usage.OutputTokens, CachedTokens: r.Usage.CachedInputTokens,
		SearchMs: m.SearchMs, EmbedMs: m.EmbedMs, AssembleMs: m.AssembleMs, FirstByteMs: r.FirstByte, StreamMs: m.StreamMs,
		SummarizeMs: m.SummarizeMs, IndexMs: m.IndexMs, Attempts: m.Attempts,
		Candidates: m.Candidates, Selected: m.Selected, PackedTokens: m.PackedTokens,
		SimilarityMin: m.SimilarityMin, SimilarityMax: m.SimilarityMax,
		RetrievalFailed: m.RetrievalFailed, RetrievalError: m.RetrievalWords.As(m.RetrievalError),
		ValidationResult: string(m.ValidationResult), ValidationTries: m.ValidationTries,
	}
}

// turns returns a function that returns turns by id, and caches them.
func (c *Core) turns(ctx context.Context) func(chat.TurnID) (chat.Turn, error) {
	type result struct {
		turn chat.Turn
		err  error
	}
	cache := map[chat.TurnID]result{}
	return func(id chat.TurnID) (chat.Turn, error) {
		r, ok := cache[id]
		if !ok {
			r.turn, r.err = c.Store.Turn(ctx, id)
			cache[id] = r
		}
		return r.turn, r.err
	}
}

// titles returns a function that returns the title of a session, or the path of a project file, and caches it.
func (c *Core) titles(ctx context.Context) func(chat.SessionID) string {
	cache := map[chat.SessionID]string{}
	return func(id chat.SessionID) string {
		if id == "" {
			return ""
		}
		if t, ok := cache[id]; ok {
			return t
		}
		s, err := c.Store.SessionOrFile(ctx, id)
		if err == nil {
			cache[id] = s.Title
		}
		return cache[id]
	}
}

func (c *Core) jobView(ctx context.Context, j chat.Job) JobView {
	if j.ID == 0 {
		return JobView{}
	}
	v := JobView{
		ID: j.ID, Type: string(j.Type), TurnID: string(j.TurnID), SessionID: string(j.SessionID), State: string(j.State),
		Attempts: j.Attempts, LastError: j.Why(), WaitsFor: j.WaitsFor, RunAfter: ms(j.RunAfter), UpdatedAt: ms(j.UpdatedAt),
	}
	if t, err := c.Store.Turn(ctx, j.TurnID); err == nil {
		v.TurnSeq = t.Seq
		if t.Provider == chat.ProviderFiles { // not part of a conversation that can be opened
			v.TurnID = ""
		}
	}
	v.Session = c.titles(ctx)(j.SessionID)
	return v
}

// RetryJob makes a job due now and resets its attempts.
func (s *Inspect) RetryJob(id int64) error {
	return s.c.Queue.RetryJob(s.c.ctx(), id)
}

// DismissJob marks a job as failed until it is retried.
func (s *Inspect) DismissJob(id int64) error {
	return s.c.Queue.DismissJob(s.c.ctx(), id)
}

// Reconcile looks for unfinished work now and returns what it found.
func (s *Inspect) Reconcile() (RecoveryReport, error) {
	ctx := s.c.ctx()
	r, err := s.c.Reconciler.Reconcile(ctx)
	if err != nil {
		return RecoveryReport{}, err
	}
	return recoveryView(r, s.c.turns(ctx), s.c.titles(ctx)), nil
}

// Steps lists a turn's provider calls, every attempt.
func (s *Inspect) Steps(turnID string) ([]StepView, error) {
	steps, err := s.c.Store.Steps(s.c.ctx(), chat.TurnID(turnID))
	return lists.Map(steps, stepView), err
}

// RawStep returns the exact request and response of a provider call. The middle of a very long one is left out.
func (s *Inspect) RawStep(stepID string) (RawStep, error) {
	id := chat.StepID(stepID)
	p, err := s.c.Store.StepBodies(s.c.ctx(), id)
	if err != nil {
		return RawStep{Events: []RawEvent{}}, err
	}
	return rawStep(p, func(yield func(chat.RawEvent) error) error { return s.c.Store.StepEvents(s.c.ctx(), id, yield) })
}

func rawStep(p chat.StepPayload, events func(yield func(chat.RawEvent) error) error) (RawStep, error) {
	raw := RawStep{Events: []RawEvent{}}
	raw.Request, raw.Response = cutMiddle(printable(p.Request)), cutMiddle(printable(p.Response))
	first, last := 0, 0 // bytes
	var newest []RawEvent
	err := events(func(e chat.RawEvent) error {
		event := RawEvent{Type: e.Type, Data: cutMiddle(printable(e.Data))}
		if first += event.size(); first <= rawPart {
			raw.Events = append(raw.Events, event)
			return nil
		}
		newest, last = append(newest, event), last+event.size()
		for ; last > rawPart && len(newest) > 1; newest = newest[1:] {
			last -= newest[0].size()
			raw.LeftOut++
			raw.LeftOutBytes += len(newest[0].Data)
			newest[0] = RawEvent{}
		}
		return nil
	})
	raw.LeftOutAfter = len(raw.Events)
	raw.Events = append(raw.Events, newest...)
	return raw, err
}

// rawPart is how much of the beginning and of the end of a stream or body is shown, in bytes.
const rawPart = 1 << 20

// size returns the approximate size of an event, in bytes.
func (e RawEvent) size() int { return len(e.Data) + 64 }

// cutMiddle replaces the middle of a long text with a line that says so.
func cutMiddle(s string) string {
	if len(s) <= 2*rawPart {
		return s
	}
	first, last := strings.ToValidUTF8(s[:rawPart], ""), strings.ToValidUTF8(s[len(s)-rawPart:], "")
	return fmt.Sprintf("%s\n[%d bytes are left out here]\n%s", first, len(s)-len(first)-len(last), last)
}

// printable returns valid UTF-8 unchanged, and other bytes as a quoted Go string.
func printable(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	return strconv.QuoteToASCII(string(b))
}
