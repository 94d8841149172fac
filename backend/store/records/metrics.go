package records

import (
	"context"
	"encoding/json"
	"slices"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// A turn's metrics arrive in parts: during assembly, at the end of the answer, when it is summarized and when it is
// indexed.

// MergeTurnMetrics adds the non-zero fields of m to a turn's row. An unreadable row is replaced, because metrics never
// stop a turn.
func MergeTurnMetrics(t *core.Tx, turn chat.TurnID, m chat.TurnMetrics) error {
	if m == (chat.TurnMetrics{}) {
		return nil
	}
	sum, err := turnMetrics(t, turn)
	if err != nil {
		return err
	}
	return putMetrics(t, turn, "", mergeMetrics(sum, m))
}

// mergePrepared adds the metrics of a preparation. The newest one decides whether memory failed: another attempt may
// have succeeded.
func mergePrepared(t *core.Tx, p chat.Preparation) error {
	old, err := turnMetrics(t, p.TurnID)
	if err != nil {
		return err
	}
	sum := mergeMetrics(old, chat.TurnMetrics{EstimateTokens: p.Tokens})
	sum.RetrievalError, sum.RetrievalWords = p.RetrievalError.Split()
	if sum == old {
		return nil
	}
	return putMetrics(t, p.TurnID, "", sum)
}

// turnMetrics returns a turn's metrics, zero if there are none or they cannot be read.
func turnMetrics(t *core.Tx, turn chat.TurnID) (chat.TurnMetrics, error) {
	old, err := sqlite.All[string](t.DB, `SELECT metrics_json FROM metrics WHERE turn_id = ? AND step_id = ''`, turn)
	var m chat.TurnMetrics
	if len(old) > 0 && json.Unmarshal([]byte(old[0]), &m) != nil {
		m = chat.TurnMetrics{}
	}
	return m, err
}

func mergeMetrics(a, b chat.TurnMetrics) chat.TurnMetrics {
	return chat.TurnMetrics{
		EstimateTokens: newer(a.EstimateTokens, b.EstimateTokens),
		SearchMs:       newer(a.SearchMs, b.SearchMs), EmbedMs: newer(a.EmbedMs, b.EmbedMs),
		AssembleMs: newer(a.AssembleMs, b.AssembleMs), StreamMs: newer(a.StreamMs, b.StreamMs),
		SummarizeMs: newer(a.SummarizeMs, b.SummarizeMs), IndexMs: newer(a.IndexMs, b.IndexMs),
		Candidates: newer(a.Candidates, b.Candidates), Selected: newer(a.Selected, b.Selected),
		PackedTokens: newer(a.PackedTokens, b.PackedTokens), Attempts: newer(a.Attempts, b.Attempts),
		ValidationTries: newer(a.ValidationTries, b.ValidationTries), ValidationResult: newer(a.ValidationResult, b.ValidationResult),
		SimilarityMin: newer(a.SimilarityMin, b.SimilarityMin), SimilarityMax: newer(a.SimilarityMax, b.SimilarityMax),
		RetrievalFailed: a.RetrievalFailed || b.RetrievalFailed,
		RetrievalError:  a.RetrievalError, // only mergePrepared changes these
		RetrievalWords:  a.RetrievalWords,
	}
}

// newer returns b if it was measured, otherwise a.
func newer[N comparable](a, b N) N {
	var zero N
	if b != zero {
		return b
	}
	return a
}

func putStepMetrics(t *core.Tx, turn chat.TurnID, step chat.StepID, m chat.StepMetrics) error {
	return putMetrics(t, turn, string(step), m)
}

func putMetrics(t *core.Tx, turn chat.TurnID, step string, m any) error {
	b, err := chat.MarshalJSON(m)
	if err != nil {
		return err
	}
	return t.Run(`INSERT INTO metrics (turn_id, step_id, created_at, updated_at, metrics_json) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (turn_id, step_id) DO UPDATE SET metrics_json = excluded.metrics_json, updated_at = excluded.updated_at`,
		turn, step, t.Stamp(), t.Stamp(), string(b))
}

type metricsRow struct {
	ID          string
	TurnSeq     int64
	UsageJSON   *string
	MetricsJSON *string
	StepJSON    *string
	Attempts    int
}

func (r metricsRow) row() chat.TurnMetricsRow {
	out := chat.TurnMetricsRow{TurnID: chat.TurnID(r.ID), TurnSeq: r.TurnSeq}
	if u, err := schema.DecodeOptional[chat.Usage](r.UsageJSON); err == nil && u != nil {
		out.Usage = *u.Checked(0)
	}
	if m, err := schema.DecodeOptional[chat.TurnMetrics](r.MetricsJSON); err == nil && m != nil {
		out.Metrics = *m
	}
	if st, err := schema.DecodeOptional[chat.StepMetrics](r.StepJSON); err == nil && st != nil {
		out.FirstByte = st.FirstByteMs
	}
	out.Metrics.Attempts = max(out.Metrics.Attempts, r.Attempts)
	return out
}

// metricColumns is what metricsRow needs of turns t and their own metrics m.
const metricColumns = `t.id, t.turn_seq, t.usage_json, m.metrics_json,
	(SELECT sm.metrics_json FROM steps st JOIN metrics sm ON sm.turn_id = t.id AND sm.step_id = st.id
	 WHERE st.turn_id = t.id ORDER BY st.step_index DESC, st.attempt DESC LIMIT 1) AS step_json,
	(SELECT count(*) FROM steps st WHERE st.turn_id = t.id) AS attempts`

// Metrics returns the newest turns of a branch with their metrics, newest first.
func (s *Records) Metrics(ctx context.Context, branch chat.BranchID, limit int) ([]chat.TurnMetricsRow, error) {
	measured, err := s.Measures(ctx, chat.MeasureQuery{Branch: branch, Limit: limit})
	return lists.Map(measured, func(m chat.TurnMeasure) chat.TurnMetricsRow { return m.TurnMetricsRow }), err
}

type measureRow struct {
	Row       metricsRow `gorm:"embedded"`
	SessionID string
	Title     string
	Model     string
	CreatedAt string
}

// Measures returns the newest turns of a branch's lineage, of a session or of all sessions with their metrics, newest
// first.
func (s *Records) Measures(ctx context.Context, q chat.MeasureQuery) ([]chat.TurnMeasure, error) {
	rows, err := core.Query(ctx, s, "metrics.read", func(db *gorm.DB) ([]measureRow, error) {
		with, from, args, err := measured(db, q)
		if err != nil || from == "" {
			return nil, err
		}
		return sqlite.All[measureRow](db, with+`SELECT `+metricColumns+`, t.session_id, s.title, t.primary_model AS model, t.created_at
			`+from, args...)
	})
	return lists.Map(rows, func(r measureRow) chat.TurnMeasure {
		return chat.TurnMeasure{
			TurnMetricsRow: r.Row.row(), Session: chat.SessionID(r.SessionID), Title: r.Title, Model: r.Model, At: schema.ParseTime(r.CreatedAt),
		}
	}), err
}

// measured returns the FROM clause of a query; empty: no turns. Identifiers begin with their creation time, so the
// newest turns of all sessions are the last by id.
func measured(db *gorm.DB, q chat.MeasureQuery) (with, from string, args []any, err error) {
	const joined = ` JOIN sessions s ON s.id = t.session_id LEFT JOIN metrics m ON m.turn_id = t.id AND m.step_id = ''`
	limit := q.Limit
	if limit <= 0 {
		limit = -1
	}
	switch {
	case q.Branch != "":
		segs, err := core.Segments(db, q.Branch)
		if err != nil {
			return "", "", nil, err
		}
		first, last, err := pageBounds(db, segs, chat.LineageQuery{Limit: q.Limit, Newest: true})
		if err != nil || first > last {
			return "", "", nil, err
		}
		scope, err := core.ScopeJSON(segs)
		return core.ScopeCTE, `FROM seg JOIN turns t ON t.branch_id = seg.branch AND t.turn_seq > seg."from" AND t.turn_seq <= seg."to"` + joined +
			` WHERE t.turn_seq BETWEEN ? AND ? ORDER BY t.turn_seq DESC`, []any{scope, first, last}, err
	case q.Session != "":
		return "", `FROM turns t` + joined + ` WHERE t.session_id = ? ORDER BY t.id DESC LIMIT ?`, []any{q.Session, limit}, nil
	}
	// The usage of duplicated turns was counted once already.
	return "", `FROM turns t` + joined + ` WHERE ` + schema.Conversations + ` AND (s.source <> '` + chat.SourceDuplicate + `' OR t.created_at >= s.created_at)
		ORDER BY t.id DESC LIMIT ?`, []any{limit}, nil
}

type modelUsageRow struct {
	Model                         string
	Turns                         int
	Input, Output, Cached, Writes int
	Reasoning                     int
	PriceSource                   string
	USD                           float64 `gorm:"column:usd"`
}

// UsageByModel sums the token usage that providers reported and its stored cost, by the model that answered and the
// source of its price. Duplicated turns are not counted again. Impossible numbers count as zero.
func (s *Records) UsageByModel(ctx context.Context, q chat.UsageQuery) ([]chat.ModelUsage, error) {
	where, args := `t.usage_json IS NOT NULL AND json_valid(t.usage_json) AND (s.source <> ? OR t.created_at >= s.created_at)`, []any{chat.SourceDuplicate}
	if q.Session != "" {
		where += ` AND t.session_id = ?`
		args = append(args, q.Session)
	}
	if !q.Since.IsZero() {
		where += ` AND t.created_at >= ?`
		args = append(args, chat.FormatTime(q.Since))
	}
	return s.usageOf(ctx, `SELECT t.primary_model AS model, t.usage_json AS usage FROM turns t JOIN sessions s ON s.id = t.session_id WHERE `+where, args)
}

// BackgroundUsage sums the token usage of the calls that wrote state summaries, titles, range summaries and summaries of chunks, as their
// validations recorded it, like UsageByModel. Calls whose result was not stored are not included.
func (s *Records) BackgroundUsage(ctx context.Context, q chat.UsageQuery) ([]chat.ModelUsage, error) {
	// A duplicate gets copies of range summaries at the moment when it is created.
	where := `CASE WHEN json_valid(t.validation_json) THEN json_type(t.validation_json, '$.usage') = 'object' END
		AND (s.source <> ? OR t.created_at > s.created_at)`
	args := []any{chat.SourceDuplicate}
	if q.Session != "" {
		where += ` AND t.session_id = ?`
		args = append(args, q.Session)
	}
	if !q.Since.IsZero() { // ids begin with their creation time, and have an index
		where += ` AND t.id >= ? AND t.created_at >= ?`
		args = append(args, chat.FirstID(q.Since), chat.FormatTime(q.Since))
	}
	from := func(table, model string) string {
		return `SELECT coalesce(nullif(json_extract(t.validation_json, '$.asked'), ''), ` + model + `) AS model,
			json_extract(t.validation_json, '$.usage') AS usage FROM ` + table + ` t JOIN sessions s ON s.id = t.session_id WHERE ` + where
	}
	return s.usageOf(ctx, from("states", "t.model")+` UNION ALL `+from("summaries", "t.generated_by")+` UNION ALL `+
		from("chunk_summaries", "t.generated_by"), slices.Concat(args, args, args))
}

// usageOf sums the usages that a query returns as a model and a JSON object.
func (s *Records) usageOf(ctx context.Context, query string, args []any) ([]chat.ModelUsage, error) {
	number := func(name string) string {
		value := `json_extract(usage, '$.` + name + `')`
		return `coalesce(sum(CASE WHEN ` + value + ` BETWEEN 0 AND 100000000 THEN ` + value + ` END), 0)`
	}
	rows, err := core.All[modelUsageRow](ctx, s, "usage.read", `SELECT model, count(*) AS turns, `+
		number("input_tokens")+` AS input, `+number("output_tokens")+` AS output, `+number("cached_input_tokens")+` AS cached, `+
		number("cache_write_tokens")+` AS writes, `+number("reasoning_tokens")+` AS reasoning,
			coalesce(json_extract(usage, '$.cost.source'), '') AS price_source, coalesce(sum(json_extract(usage, '$.cost.usd')), 0) AS usd
			FROM (`+query+`) GROUP BY model, price_source ORDER BY model, price_source`, args...)
	out := make([]chat.ModelUsage, len(rows))
	for i, r := range rows {
		out[i] = chat.ModelUsage{Model: r.Model, Turns: r.Turns, Usage: chat.Usage{
			InputTokens: r.Input, OutputTokens: r.Output, CachedInputTokens: r.Cached, CacheWriteTokens: r.Writes, ReasoningTokens: r.Reasoning,
			Cost: chat.Cost{USD: r.USD, Source: r.PriceSource},
		}}
	}
	return out, err
}
