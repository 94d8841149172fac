package store

import (
	"slices"
	"testing"

	"contextinfinity/backend/store/sqlite"
)

// TestTheReferenceSchemaIsCovered: every table and column of SRD 16.1 exists under its name, except those of embeddings,
// which are stored by namespace (docs/seeds.md).
func TestTheReferenceSchemaIsCovered(t *testing.T) {
	f := newFixture(t)
	for table, columns := range map[string][]string{
		"sessions": {"id", "created_at", "title", "active_branch"},
		"branches": {"id", "session_id", "created_at", "base_state", "head_state", "head_seq", "label"},
		"states": {
			"id", "session_id", "branch_id", "state_seq", "parent_id", "summary", "pinned_facts", "token_count_est", "created_at", "schema_version",
		},
		"turns": {
			"id", "session_id", "branch_id", "turn_seq", "state_before", "state_after", "phase", "user_message_json", "final_assistant_message_json",
			"primary_provider", "primary_model", "created_at", "updated_at",
		},
		"steps": {
			"id", "turn_id", "step_index", "provider", "model_id", "request_json", "response_json", "normalized_items_json", "outcome_json",
			"stream_path", "stream_displayed_bytes", "stream_durable_bytes", "started_at", "ended_at",
		},
		"jobs": {"id", "job_type", "turn_id", "state", "attempts", "last_error", "created_at", "updated_at"},
		"chunks": {
			"id", "session_id", "branch_id", "source_turn", "rendered_text", "summary", "chunk_type", "token_est", "content_hash", "created_at",
		},
		"retrievals": {"turn_id", "chunk_id", "similarity", "rank"},
	} {
		have, err := sqlite.All[string](f.core.DB.Reader, `SELECT name FROM pragma_table_info(?)`, table)
		f.ok(err)
		for _, column := range columns {
			if !slices.Contains(have, column) {
				t.Errorf("%s has no column %s: %q", table, column, have)
			}
		}
	}
}

// TestChunksRecordTheirProvenance: a chunk names its turn, session and branch, its place in the message, and a hash of its
// content (SRD 9.2).
func TestChunksRecordTheirProvenance(t *testing.T) {
	f := newFixture(t)
	s, b := f.session("s")
	turn := f.full(b.ID, "where does the heron stand", "in the shallows, waiting")
	n, err := sqlite.One[int](f.core.DB.Reader, "chunks", "", `SELECT count(*) FROM chunks
		WHERE source_turn = ? AND session_id = ? AND branch_id = ? AND length(content_hash) >= 32 AND start_offset = 0 AND end_offset > 20`,
		string(turn.ID), string(s.ID), string(b.ID))
	f.ok(err)
	if n != 2 {
		t.Errorf("%d of the two chunks have complete provenance", n)
	}
}
