-- A second copy, as an index, of each small table whose rows no hash covers and no ledger
-- makes again. SQLite's integrity check compares every row with its indexes, so that a byte
-- that changes in either copy is found. No query needs these indexes.

-- +goose Up
CREATE INDEX idx_metrics_copy ON metrics (turn_id, step_id, created_at, updated_at, metrics_json);
CREATE INDEX idx_jobs_copy ON jobs (id, job_type, job_key, session_id, branch_id, turn_id, state, attempts, priority, run_after, lease_until,
  created_at, updated_at, last_error, from_seq, claim);
CREATE INDEX idx_import_keys_copy ON import_keys (source, key, session_id, entity_id, imported_at);
CREATE INDEX idx_settings_copy ON settings (key, value, updated_at);
CREATE INDEX idx_drafts_copy ON drafts (branch_id, queued, updated_at, message_json);
CREATE INDEX idx_tags_copy ON tags (entity_id, name, session_id, entity_type, created_at);
CREATE INDEX idx_calibrations_copy ON calibrations (provider, model_id, factor, samples, updated_at, mean, revision);
CREATE INDEX idx_receipts_copy ON receipts (id, subject, created_at, counts_json, backups_json);
CREATE INDEX idx_pin_suggestions_copy ON pin_suggestions (id, session_id, branch_id, turn_id, turn_seq, span_from, span_to, dismissed_at, pin_id);
CREATE INDEX idx_goose_db_version_copy ON goose_db_version (id, version_id, is_applied, tstamp);
CREATE INDEX idx_vector_generation_copy ON vector_generation (only_row, generation);
CREATE INDEX idx_turn_tokens_copy ON turn_tokens (turn_id, tokens);

-- Of these tables the columns that neither the ledger nor a hash covers. vectors is
-- counted again instead: it changes with every vector.
CREATE INDEX idx_namespaces_copy ON namespaces (id, identity, name, model, dimension, version, state, created_at);
CREATE INDEX idx_snapshots_copy ON snapshots (session_id, event_seq, created_at);
CREATE INDEX idx_blobs_copy ON blobs (session_id, hash, media_type, size, created_at);
CREATE INDEX idx_files_copy ON files (id, name, media_type, size, created_at, tokens);
CREATE INDEX idx_files_unsent_copy ON files (id, text) WHERE turn_id IS NULL AND text IS NOT NULL;
CREATE INDEX idx_retrieved_before_copy ON retrieved (turn_n, chunk_n, packed_as, tokens, similarity, vector_score, keyword_score, score) WHERE rank = 0;
