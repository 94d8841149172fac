package search

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/delta"
	"contextinfinity/backend/store/events"
	"contextinfinity/backend/store/queue"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// notSummarized selects the long chunks c of turns t that the librarian was not asked about, and that this device finishes.
// Only what this program sent to a provider before may be read by one: not what was imported, nor copies of it, nor the
// files of projects. Its parameters are the minimum number of tokens and those of core.MayFinish.
const notSummarized = `FROM chunks c JOIN turns t ON t.id = c.source_turn
	WHERE c.token_est >= ? AND t.phase = 'Done' AND NOT EXISTS (SELECT 1 FROM chunk_summaries x WHERE x.chunk_id = c.id)
	  AND EXISTS (SELECT 1 FROM units u WHERE u.chunk_id = c.id)
	  AND t.primary_provider <> '` + chat.ProviderFiles + `'
	  AND EXISTS (SELECT 1 FROM steps s WHERE s.turn_id = t.id AND s.stream_path <> '')
	  AND NOT EXISTS (SELECT 1 FROM import_keys k WHERE k.session_id = t.session_id AND
	    (k.entity_id = t.id OR k.source = '` + events.SourceBundle + `' AND k.entity_id = t.session_id))
	  AND ` + core.MayFinish

// ofModels restricts turns t to those of some models; its parameter is modelNames.
const ofModels = ` AND t.primary_provider || ' ' || t.primary_model IN ?`

func modelNames(models []chat.ProviderModel) []string {
	return lists.Map(models, func(m chat.ProviderModel) string { return m.Provider + " " + m.Model })
}

// UnsummarizedModels returns the providers and models of the turns with chunks of at least minTokens that the librarian was
// not asked about.
func (s *Search) UnsummarizedModels(ctx context.Context, minTokens int) ([]chat.ProviderModel, error) {
	return core.All[chat.ProviderModel](ctx, s, "chunk.unsummarized", `SELECT DISTINCT t.primary_provider AS provider, t.primary_model AS model `+notSummarized,
		append([]any{minTokens}, s.Device().Finishing()...)...)
}

// failedPause is how long a failed job keeps others of its model from being queued: its cause is likely theirs too.
const failedPause = 24 * time.Hour

// QueueChunkSummaries queues summarize_chunks for turns of some models, at most limit, and returns how many: first those
// whose chunks were most often packed as summaries, then the newest. None is queued before the last ones of its model are
// done, nor within a day after one of its model failed.
func (s *Search) QueueChunkSummaries(ctx context.Context, models []chat.ProviderModel, minTokens, limit int) (int, error) {
	var turns []schema.TurnRow
	err := s.Write(ctx, "chunk.queue", func(t *core.Tx) error {
		busy, err := sqlite.All[chat.ProviderModel](t.DB, `SELECT DISTINCT t.primary_provider AS provider, t.primary_model AS model
			FROM jobs j JOIN turns t ON t.id = j.turn_id
			WHERE j.job_type = ? AND (j.state IN ('queued', 'running') OR j.state = 'dead' AND j.updated_at > ?)`,
			chat.JobSummarizeChunks, chat.FormatTime(t.Now.Add(-failedPause)))
		if err != nil {
			return err
		}
		free := slices.DeleteFunc(slices.Clone(models), func(m chat.ProviderModel) bool { return slices.Contains(busy, m) })
		args := append([]any{minTokens}, t.Device.Finishing()...)
		turns, err = sqlite.All[schema.TurnRow](t.DB, `SELECT t.id, t.session_id, t.branch_id `+notSummarized+ofModels+`
			AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.job_key = ? || ':' || t.id AND j.state = 'dead')
			GROUP BY t.id ORDER BY sum((SELECT count(*) FROM retrieved r WHERE r.chunk_n = c.n AND r.packed_as = 2)) DESC, t.id DESC LIMIT ?`,
			append(args, modelNames(free), chat.JobSummarizeChunks, limit)...)
		for _, turn := range turns {
			if err == nil {
				err = queue.Enqueue(t, chat.JobSummarizeChunks, turn)
			}
		}
		return err
	})
	return len(turns), err
}

// ChunksToSummarize returns the first chunks of a turn, at most limit, that the librarian was not asked about. One whose
// text cannot be read has only its id.
func (s *Search) ChunksToSummarize(ctx context.Context, turn chat.TurnID, minTokens, limit int) ([]chat.ChunkText, error) {
	return core.Query(ctx, s, "chunk.unsummarized", func(db *gorm.DB) ([]chat.ChunkText, error) {
		args := append([]any{minTokens}, s.Device().Finishing()...)
		ids, err := sqlite.All[chat.ChunkID](db, `SELECT c.id `+notSummarized+` AND t.id = ? ORDER BY c.ordinal, c.id LIMIT ?`,
			append(args, turn, limit)...)
		if err != nil {
			return nil, err
		}
		found, err := delta.ChunkTexts(db, ids)
		texts := map[chat.ChunkID]chat.ChunkText{}
		for _, c := range found {
			texts[c.ID] = c
		}
		return lists.Map(ids, func(id chat.ChunkID) chat.ChunkText {
			c := texts[id]
			c.ID = id
			return c
		}), err
	})
}

// PutChunkSummary stores what the librarian said about a chunk, once.
func (s *Search) PutChunkSummary(ctx context.Context, n chat.ChunkSummary) error {
	return s.Write(ctx, "chunk.summary", func(t *core.Tx) error {
		if err := queue.CheckLease(t, n.Job); err != nil {
			return err
		}
		var validation *string
		if len(n.Validation) > 0 {
			validation = new(string(n.Validation))
		}
		return t.Run(`INSERT INTO chunk_summaries (id, chunk_id, session_id, summary, generated_by, validation_json, created_at)
			SELECT ?, c.id, c.session_id, ?, ?, ?, ? FROM chunks c WHERE c.id = ? ON CONFLICT (chunk_id) DO NOTHING`,
			t.NewID(), schema.Clean(n.Text), n.GeneratedBy, validation, t.Stamp(), n.Chunk)
	})
}

// settingSpent is the setting with the tokens that summaries of chunks used on a day.
const settingSpent = "chunk_summaries.spent"

type spent struct {
	Day    string `json:"day"` // in local time
	Tokens int    `json:"tokens"`
}

func spentToday(db *gorm.DB, now time.Time) (spent, error) {
	today := spent{Day: now.Local().Format(time.DateOnly)}
	values, err := sqlite.All[string](db, `SELECT value FROM settings WHERE key = ?`, settingSpent)
	var stored spent
	if err == nil && len(values) > 0 && json.Unmarshal([]byte(values[0]), &stored) == nil && stored.Day == today.Day {
		today = stored
	}
	return today, err
}

// SpendOnChunks adds tokens to those that summaries of chunks used today, before they are used, so that a crash cannot
// forget them; fewer than 0 were not used after all. false: there would be more than limit, and nothing is added.
func (s *Search) SpendOnChunks(ctx context.Context, tokens, limit int) (ok bool, err error) {
	err = s.Write(ctx, "chunk.spend", func(t *core.Tx) error {
		now, err := spentToday(t.DB, t.Now)
		if err != nil || tokens > 0 && now.Tokens+tokens > limit {
			return err
		}
		now.Tokens, ok = max(0, now.Tokens+tokens), true
		value, err := chat.MarshalJSON(now)
		if err != nil {
			return err
		}
		return t.Run(`INSERT INTO settings (key, value, updated_at) VALUES (?, ?, ?)
			ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`,
			settingSpent, string(value), t.Stamp())
	})
	return ok && err == nil, err
}

// ChunkSummaries returns how many chunks have the librarian's summary, how many of at least minTokens in turns of some
// models have none, and what was used today.
func (s *Search) ChunkSummaries(ctx context.Context, models []chat.ProviderModel, minTokens int) (chat.ChunkSummaries, error) {
	return core.Query(ctx, s, "chunk.summaries", func(db *gorm.DB) (out chat.ChunkSummaries, err error) {
		today, err := spentToday(db, s.Clock.Now())
		if err != nil {
			return out, err
		}
		out.Tokens = today.Tokens
		if out.Written, err = sqlite.One[int](db, "chunk summaries", "", `SELECT count(*) FROM chunk_summaries WHERE summary <> ''`); err != nil {
			return out, err
		}
		args := append([]any{minTokens}, s.Device().Finishing()...)
		out.Waiting, err = sqlite.One[int](db, "chunks", "", `SELECT count(*) `+notSummarized+ofModels, append(args, modelNames(models))...)
		return out, err
	})
}
