-- The whole schema of SPEC 3 (SRD 16.1 with the columns and tables added there).
-- Small columns stand before large ones: a row's head is then read without the
-- pages its text overflows into. Moments are TEXT, UTC RFC 3339 milliseconds.
-- Columns named *_z and BLOBs that hold JSON are packed by codec.go.

-- +goose Up
CREATE TABLE sessions (
  id            TEXT PRIMARY KEY NOT NULL,
  created_at    TEXT NOT NULL,
  updated_at    TEXT NOT NULL,
  archived_at   TEXT,
  pinned        INTEGER NOT NULL DEFAULT 0 CHECK (pinned IN (0, 1)),
  source        TEXT NOT NULL DEFAULT 'native' CHECK (source <> ''),
  active_branch TEXT NOT NULL REFERENCES branches (id) DEFERRABLE INITIALLY DEFERRED,
  model         TEXT NOT NULL DEFAULT '',
  title         TEXT NOT NULL DEFAULT '',
  system_prompt TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX idx_sessions_list ON sessions (pinned DESC, updated_at DESC);

CREATE TABLE branches (
  id            TEXT PRIMARY KEY NOT NULL,
  session_id    TEXT NOT NULL REFERENCES sessions (id) DEFERRABLE INITIALLY DEFERRED,
  created_at    TEXT NOT NULL,
  archived_at   TEXT,
  parent_branch TEXT REFERENCES branches (id) DEFERRABLE INITIALLY DEFERRED,
  fork_turn     TEXT REFERENCES turns (id) DEFERRABLE INITIALLY DEFERRED,
  fork_seq      INTEGER NOT NULL DEFAULT 0 CHECK (fork_seq >= 0),
  base_state    TEXT NOT NULL REFERENCES states (id) DEFERRABLE INITIALLY DEFERRED,
  base_seq      INTEGER NOT NULL DEFAULT 0 CHECK (base_seq >= 0),
  head_state    TEXT NOT NULL REFERENCES states (id) DEFERRABLE INITIALLY DEFERRED,
  head_seq      INTEGER NOT NULL CHECK (head_seq >= 0),
  epoch         INTEGER NOT NULL DEFAULT 0 CHECK (epoch >= 0),
  label         TEXT NOT NULL DEFAULT '',
  CHECK ((fork_turn IS NULL) = (fork_seq = 0)),
  CHECK (fork_turn IS NULL OR parent_branch IS NOT NULL)
) STRICT;
CREATE INDEX idx_branches_session ON branches (session_id);
CREATE INDEX idx_branches_parent ON branches (parent_branch);

CREATE TABLE states (
  id              TEXT PRIMARY KEY NOT NULL,
  session_id      TEXT NOT NULL REFERENCES sessions (id) DEFERRABLE INITIALLY DEFERRED,
  branch_id       TEXT NOT NULL REFERENCES branches (id) DEFERRABLE INITIALLY DEFERRED,
  state_seq       INTEGER NOT NULL CHECK (state_seq >= 0),
  parent_id       TEXT REFERENCES states (id) DEFERRABLE INITIALLY DEFERRED,
  covers_seq      INTEGER NOT NULL CHECK (covers_seq >= 0), -- last turn_seq it speaks of
  origin          TEXT NOT NULL CHECK (origin IN ('root', 'librarian', 'fallback', 'pins')),
  model           TEXT NOT NULL DEFAULT '',
  token_count_est INTEGER NOT NULL CHECK (token_count_est >= 0),
  schema_version  INTEGER NOT NULL,
  created_at      TEXT NOT NULL,
  content_hash    BLOB NOT NULL CHECK (length(content_hash) = 32),
  validation_json TEXT,
  pinned_facts    TEXT NOT NULL,
  summary         TEXT NOT NULL,
  CHECK ((origin = 'root') = (parent_id IS NULL))
) STRICT;
CREATE UNIQUE INDEX idx_states_branch_seq ON states (branch_id, state_seq);
CREATE UNIQUE INDEX idx_states_one_root ON states (session_id) WHERE parent_id IS NULL;
CREATE INDEX idx_states_parent ON states (parent_id);

CREATE TABLE turns (
  id              TEXT PRIMARY KEY NOT NULL,
  session_id      TEXT NOT NULL REFERENCES sessions (id) DEFERRABLE INITIALLY DEFERRED,
  branch_id       TEXT NOT NULL REFERENCES branches (id) DEFERRABLE INITIALLY DEFERRED,
  turn_seq        INTEGER NOT NULL CHECK (turn_seq >= 1),
  state_before    TEXT NOT NULL REFERENCES states (id),
  state_after     TEXT REFERENCES states (id),
  phase           TEXT NOT NULL CHECK (phase IN ('Accepted', 'ContextPrepared', 'Responding',
                    'ResponseFinalized', 'StateCommitted', 'Indexed', 'Done', 'Failed')),
  outcome         TEXT NOT NULL DEFAULT '' CHECK (outcome IN ('', 'completed', 'truncated', 'refused',
                    'stopped', 'kept', 'paused', 'incomplete', 'failed', 'discarded')),
  index_status    TEXT NOT NULL DEFAULT '' CHECK (index_status IN ('', 'ok', 'degraded', 'skipped')),
  primary_provider TEXT NOT NULL,
  primary_model   TEXT NOT NULL,
  retry_of        TEXT REFERENCES turns (id),
  created_at      TEXT NOT NULL,
  updated_at      TEXT NOT NULL,
  user_hash       BLOB NOT NULL CHECK (length(user_hash) = 32),
  assistant_hash  BLOB CHECK (assistant_hash IS NULL OR length(assistant_hash) = 32),
  usage_json      TEXT,
  error_json      TEXT,
  user_message_json TEXT NOT NULL,
  final_assistant_message_json TEXT,
  manifest        BLOB
) STRICT;
CREATE UNIQUE INDEX idx_turns_branch_seq ON turns (branch_id, turn_seq);
CREATE INDEX idx_turns_session ON turns (session_id);
CREATE INDEX idx_turns_state_after ON turns (state_after) WHERE state_after IS NOT NULL;
CREATE INDEX idx_turns_state_before ON turns (state_before);
CREATE INDEX idx_turns_retry ON turns (retry_of) WHERE retry_of IS NOT NULL;
CREATE INDEX idx_turns_pending ON turns (branch_id, turn_seq) WHERE phase = 'ResponseFinalized';
CREATE INDEX idx_turns_unindexed ON turns (branch_id, turn_seq) WHERE phase = 'StateCommitted';
CREATE INDEX idx_turns_unfinished ON turns (branch_id, turn_seq)
  WHERE phase IN ('Accepted', 'ContextPrepared', 'Responding');

CREATE TABLE steps (
  id          TEXT PRIMARY KEY NOT NULL,
  turn_id     TEXT NOT NULL REFERENCES turns (id),
  step_index  INTEGER NOT NULL CHECK (step_index >= 0),
  attempt     INTEGER NOT NULL CHECK (attempt >= 1),
  status      TEXT NOT NULL CHECK (status IN ('running', 'completed', 'incomplete', 'paused', 'failed', 'cancelled')),
  provider    TEXT NOT NULL,
  model_id    TEXT NOT NULL,
  started_at  TEXT NOT NULL,
  ended_at    TEXT,
  stream_path TEXT NOT NULL DEFAULT '',
  stream_displayed_bytes INTEGER NOT NULL DEFAULT 0 CHECK (stream_displayed_bytes >= 0),
  stream_durable_bytes   INTEGER NOT NULL DEFAULT 0 CHECK (stream_durable_bytes >= 0),
  usage_json  TEXT,
  outcome_json TEXT NOT NULL,
  normalized_items_json TEXT NOT NULL,
  request_json  BLOB NOT NULL,
  response_json BLOB,
  raw_events    BLOB,
  CHECK ((status = 'running') = (ended_at IS NULL))
) STRICT;
CREATE UNIQUE INDEX idx_steps_turn_step ON steps (turn_id, step_index, attempt);
CREATE UNIQUE INDEX idx_steps_running ON steps (turn_id) WHERE status = 'running';

CREATE TABLE summaries (
  id              TEXT PRIMARY KEY NOT NULL,
  session_id      TEXT NOT NULL REFERENCES sessions (id),
  branch_id       TEXT NOT NULL REFERENCES branches (id),
  from_seq        INTEGER NOT NULL CHECK (from_seq >= 1),
  to_seq          INTEGER NOT NULL,
  token_count     INTEGER NOT NULL CHECK (token_count >= 0),
  original_tokens INTEGER NOT NULL CHECK (original_tokens >= 0),
  generated_by    TEXT NOT NULL,
  superseded_by   TEXT REFERENCES summaries (id) DEFERRABLE INITIALLY DEFERRED,
  created_at      TEXT NOT NULL,
  content_hash    BLOB NOT NULL CHECK (length(content_hash) = 32),
  content         TEXT NOT NULL,
  CHECK (to_seq > from_seq)
) STRICT;
CREATE UNIQUE INDEX idx_summaries_live ON summaries (branch_id, from_seq, to_seq) WHERE superseded_by IS NULL;
CREATE INDEX idx_summaries_session ON summaries (session_id);

CREATE TABLE files (
  id           TEXT PRIMARY KEY NOT NULL,
  session_id   TEXT NOT NULL REFERENCES sessions (id),
  turn_id      TEXT REFERENCES turns (id),
  name         TEXT NOT NULL,
  media_type   TEXT NOT NULL,
  size         INTEGER NOT NULL CHECK (size >= 0),
  created_at   TEXT NOT NULL,
  content_hash BLOB NOT NULL CHECK (length(content_hash) = 32),
  content      BLOB
) STRICT;
CREATE UNIQUE INDEX idx_files_hash ON files (session_id, content_hash);

CREATE TABLE chunks (
  id              TEXT PRIMARY KEY NOT NULL,
  session_id      TEXT NOT NULL REFERENCES sessions (id),
  branch_id       TEXT NOT NULL REFERENCES branches (id),
  source_turn     TEXT NOT NULL REFERENCES turns (id),
  file_id         TEXT REFERENCES files (id),
  ordinal         INTEGER NOT NULL CHECK (ordinal >= 0),
  role            TEXT NOT NULL CHECK (role IN ('user', 'assistant')),
  start_offset    INTEGER NOT NULL CHECK (start_offset >= 0),
  end_offset      INTEGER NOT NULL,
  chunk_type      TEXT NOT NULL CHECK (chunk_type IN ('code', 'explanation', 'decision', 'user_context', 'tool_result', 'other')),
  token_est       INTEGER NOT NULL CHECK (token_est >= 0),
  chunker_version INTEGER NOT NULL CHECK (chunker_version >= 1),
  created_at      TEXT NOT NULL,
  content_hash    BLOB NOT NULL CHECK (length(content_hash) = 32),
  summary         TEXT NOT NULL DEFAULT '',
  rendered_text   TEXT NOT NULL,
  CHECK (end_offset >= start_offset)
) STRICT;
CREATE UNIQUE INDEX idx_chunks_uniqueness ON chunks (source_turn, chunk_type, content_hash, chunker_version);
CREATE INDEX idx_chunks_branch ON chunks (branch_id);
CREATE INDEX idx_chunks_session ON chunks (session_id);

-- n is the row number the text index knows a unit by. session, branch, turn and
-- turn_seq repeat the chunk's, so that a scope is decided without a join.
CREATE TABLE units (
  n            INTEGER PRIMARY KEY,
  id           TEXT NOT NULL UNIQUE,
  chunk_id     TEXT NOT NULL REFERENCES chunks (id),
  session_id   TEXT NOT NULL REFERENCES sessions (id),
  branch_id    TEXT NOT NULL REFERENCES branches (id),
  turn_id      TEXT NOT NULL REFERENCES turns (id),
  turn_seq     INTEGER NOT NULL,
  ordinal      INTEGER NOT NULL CHECK (ordinal >= 0),
  message      TEXT NOT NULL CHECK (message IN ('user', 'assistant')),
  start_offset INTEGER NOT NULL CHECK (start_offset >= 0),
  end_offset   INTEGER NOT NULL,
  tokens       INTEGER NOT NULL CHECK (tokens >= 0),
  content_hash BLOB NOT NULL CHECK (length(content_hash) = 32),
  text         TEXT NOT NULL,
  pairs        TEXT, -- what is indexed, where that is not the text itself
  indexed_text TEXT GENERATED ALWAYS AS (coalesce(pairs, text)) VIRTUAL,
  CHECK (end_offset >= start_offset)
) STRICT;
CREATE UNIQUE INDEX idx_units_chunk ON units (chunk_id, ordinal);
CREATE INDEX idx_units_turn ON units (turn_id);
CREATE INDEX idx_units_branch ON units (branch_id, turn_seq);
CREATE INDEX idx_units_session ON units (session_id);

CREATE VIRTUAL TABLE units_fts USING fts5 (
  indexed_text, content='units', content_rowid='n', tokenize='porter unicode61'
);
CREATE VIRTUAL TABLE units_vocab USING fts5vocab (units_fts, row);

-- +goose StatementBegin
CREATE TRIGGER units_fts_insert AFTER INSERT ON units BEGIN
  INSERT INTO units_fts (rowid, indexed_text) VALUES (new.n, coalesce(new.pairs, new.text));
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER units_fts_delete AFTER DELETE ON units BEGIN
  INSERT INTO units_fts (units_fts, rowid, indexed_text) VALUES ('delete', old.n, coalesce(old.pairs, old.text));
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER units_fts_update AFTER UPDATE OF n, text, pairs ON units BEGIN
  INSERT INTO units_fts (units_fts, rowid, indexed_text) VALUES ('delete', old.n, coalesce(old.pairs, old.text));
  INSERT INTO units_fts (rowid, indexed_text) VALUES (new.n, coalesce(new.pairs, new.text));
END;
-- +goose StatementEnd

CREATE TABLE namespaces (
  id         INTEGER PRIMARY KEY,
  identity   TEXT NOT NULL UNIQUE, -- embedder name, model, dimension, version
  name       TEXT NOT NULL,
  model      TEXT NOT NULL,
  dimension  INTEGER NOT NULL CHECK (dimension > 0),
  version    INTEGER NOT NULL,
  state      TEXT NOT NULL CHECK (state IN ('building', 'serving', 'retired')),
  created_at TEXT NOT NULL
) STRICT;

CREATE TABLE unit_embeddings (
  unit_n       INTEGER NOT NULL REFERENCES units (n),
  namespace_id INTEGER NOT NULL REFERENCES namespaces (id),
  vector       BLOB NOT NULL,
  PRIMARY KEY (namespace_id, unit_n)
) STRICT;
CREATE INDEX idx_unit_embeddings_unit ON unit_embeddings (unit_n);

CREATE TABLE retrievals (
  turn_id       TEXT NOT NULL REFERENCES turns (id),
  chunk_id      TEXT NOT NULL REFERENCES chunks (id),
  similarity    REAL NOT NULL,
  vector_score  REAL NOT NULL,
  keyword_score REAL NOT NULL,
  rank          INTEGER NOT NULL,
  packed_as     TEXT NOT NULL CHECK (packed_as IN ('full', 'slice', 'summary')),
  tokens        INTEGER NOT NULL CHECK (tokens >= 0),
  PRIMARY KEY (turn_id, chunk_id)
) STRICT;
CREATE INDEX idx_retrievals_chunk ON retrievals (chunk_id);

CREATE TABLE jobs (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  job_type    TEXT NOT NULL,
  job_key     TEXT NOT NULL UNIQUE,
  session_id  TEXT REFERENCES sessions (id),
  branch_id   TEXT REFERENCES branches (id),
  turn_id     TEXT REFERENCES turns (id),
  state       TEXT NOT NULL CHECK (state IN ('queued', 'running', 'done', 'dead')),
  attempts    INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  priority    INTEGER NOT NULL DEFAULT 0,
  run_after   TEXT NOT NULL,
  lease_until TEXT,
  created_at  TEXT NOT NULL,
  updated_at  TEXT NOT NULL,
  last_error  TEXT NOT NULL DEFAULT '',
  CHECK ((state = 'running') = (lease_until IS NOT NULL))
) STRICT;
CREATE INDEX idx_jobs_state ON jobs (state, job_type);
CREATE INDEX idx_jobs_due ON jobs (priority DESC, run_after, id) WHERE state IN ('queued', 'running');
CREATE INDEX idx_jobs_turn ON jobs (turn_id);
CREATE INDEX idx_jobs_session ON jobs (session_id);

CREATE TABLE tool_batches (
  id           TEXT PRIMARY KEY NOT NULL,
  turn_id      TEXT NOT NULL REFERENCES turns (id),
  step_id      TEXT NOT NULL REFERENCES steps (id),
  state        TEXT NOT NULL CHECK (state IN ('open', 'committed', 'abandoned')),
  created_at   TEXT NOT NULL,
  committed_at TEXT
) STRICT;
CREATE INDEX idx_tool_batches_turn ON tool_batches (turn_id);
CREATE UNIQUE INDEX idx_tool_batches_step ON tool_batches (step_id);

CREATE TABLE tool_calls (
  id         TEXT PRIMARY KEY NOT NULL,
  batch_id   TEXT NOT NULL REFERENCES tool_batches (id),
  ordinal    INTEGER NOT NULL CHECK (ordinal >= 0),
  call_id    TEXT NOT NULL,
  name       TEXT NOT NULL,
  effects    INTEGER NOT NULL DEFAULT 1 CHECK (effects IN (0, 1)),
  started_at TEXT,
  arguments  TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX idx_tool_calls_batch ON tool_calls (batch_id, ordinal);

CREATE TABLE tool_results (
  tool_call_id TEXT PRIMARY KEY NOT NULL REFERENCES tool_calls (id),
  is_error     INTEGER NOT NULL CHECK (is_error IN (0, 1)),
  created_at   TEXT NOT NULL,
  content_hash BLOB NOT NULL CHECK (length(content_hash) = 32),
  content      BLOB NOT NULL
) STRICT;

CREATE TABLE events (
  session_id   TEXT NOT NULL REFERENCES sessions (id) DEFERRABLE INITIALLY DEFERRED,
  event_seq    INTEGER NOT NULL CHECK (event_seq >= 1),
  type         TEXT NOT NULL,
  entity_id    TEXT NOT NULL,
  created_at   TEXT NOT NULL,
  payload_hash BLOB NOT NULL CHECK (length(payload_hash) = 32),
  prev_hash    BLOB NOT NULL CHECK (length(prev_hash) = 32),
  hash         BLOB NOT NULL CHECK (length(hash) = 32),
  payload      BLOB, -- NULL once erased under a receipt
  PRIMARY KEY (session_id, event_seq)
) STRICT;
CREATE INDEX idx_events_entity ON events (entity_id);

CREATE TABLE snapshots (
  session_id   TEXT NOT NULL REFERENCES sessions (id),
  event_seq    INTEGER NOT NULL CHECK (event_seq >= 1),
  created_at   TEXT NOT NULL,
  content_hash BLOB NOT NULL CHECK (length(content_hash) = 32),
  content      BLOB NOT NULL,
  PRIMARY KEY (session_id, event_seq)
) STRICT;

-- Every change of a pin is a row: a new version names the one it replaces, a
-- removal is a version without text. What a branch sees follows from lineage.
CREATE TABLE pins (
  id             TEXT PRIMARY KEY NOT NULL,
  session_id     TEXT NOT NULL REFERENCES sessions (id),
  branch_id      TEXT NOT NULL REFERENCES branches (id),
  after_turn_seq INTEGER NOT NULL CHECK (after_turn_seq >= 0),
  replaces       TEXT REFERENCES pins (id),
  removed        INTEGER NOT NULL DEFAULT 0 CHECK (removed IN (0, 1)),
  tokens         INTEGER NOT NULL DEFAULT 0 CHECK (tokens >= 0),
  created_at     TEXT NOT NULL,
  content_hash   BLOB NOT NULL CHECK (length(content_hash) = 32),
  text           TEXT NOT NULL,
  CHECK (removed = 0 OR replaces IS NOT NULL)
) STRICT;
CREATE INDEX idx_pins_branch ON pins (branch_id, after_turn_seq);
CREATE INDEX idx_pins_session ON pins (session_id);
CREATE INDEX idx_pins_replaces ON pins (replaces) WHERE replaces IS NOT NULL;

-- The order the user gave the pins of a branch: the newest one seen counts.
CREATE TABLE pin_orders (
  id             TEXT PRIMARY KEY NOT NULL,
  session_id     TEXT NOT NULL REFERENCES sessions (id),
  branch_id      TEXT NOT NULL REFERENCES branches (id),
  after_turn_seq INTEGER NOT NULL CHECK (after_turn_seq >= 0),
  created_at     TEXT NOT NULL,
  pins_json      TEXT NOT NULL -- ids of first versions, in order
) STRICT;
CREATE INDEX idx_pin_orders_branch ON pin_orders (branch_id, after_turn_seq);
CREATE INDEX idx_pin_orders_session ON pin_orders (session_id);

CREATE TABLE drafts (
  branch_id    TEXT PRIMARY KEY NOT NULL REFERENCES branches (id),
  queued       INTEGER NOT NULL DEFAULT 0 CHECK (queued IN (0, 1)),
  updated_at   TEXT NOT NULL,
  message_json TEXT NOT NULL
) STRICT;

CREATE TABLE tags (
  session_id  TEXT NOT NULL REFERENCES sessions (id),
  entity_type TEXT NOT NULL CHECK (entity_type IN ('session', 'branch', 'turn')),
  entity_id   TEXT NOT NULL,
  name        TEXT NOT NULL CHECK (name <> ''),
  created_at  TEXT NOT NULL,
  PRIMARY KEY (entity_id, name)
) STRICT;
CREATE INDEX idx_tags_session ON tags (session_id);

CREATE TABLE blobs (
  hash       BLOB NOT NULL CHECK (length(hash) = 32),
  session_id TEXT NOT NULL REFERENCES sessions (id),
  media_type TEXT NOT NULL,
  size       INTEGER NOT NULL CHECK (size >= 0),
  created_at TEXT NOT NULL,
  content    BLOB NOT NULL,
  PRIMARY KEY (session_id, hash)
) STRICT;

CREATE TABLE dictionaries (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id TEXT NOT NULL REFERENCES sessions (id),
  created_at TEXT NOT NULL,
  content    BLOB NOT NULL
) STRICT;
CREATE INDEX idx_dictionaries_session ON dictionaries (session_id);

CREATE TABLE import_keys (
  source      TEXT NOT NULL,
  key         TEXT NOT NULL,
  session_id  TEXT NOT NULL REFERENCES sessions (id),
  entity_id   TEXT NOT NULL,
  imported_at TEXT NOT NULL,
  PRIMARY KEY (source, key)
) STRICT;
CREATE INDEX idx_import_keys_session ON import_keys (session_id);

CREATE TABLE calibrations (
  provider   TEXT NOT NULL,
  model_id   TEXT NOT NULL,
  factor     REAL NOT NULL CHECK (factor > 0),
  samples    INTEGER NOT NULL CHECK (samples >= 0),
  updated_at TEXT NOT NULL,
  PRIMARY KEY (provider, model_id)
) STRICT;

CREATE TABLE receipts (
  id           TEXT PRIMARY KEY NOT NULL,
  subject      TEXT NOT NULL, -- what was erased: kind and id, never its text
  created_at   TEXT NOT NULL,
  counts_json  TEXT NOT NULL,
  backups_json TEXT NOT NULL DEFAULT '[]'
) STRICT;

CREATE TABLE metrics (
  turn_id      TEXT NOT NULL REFERENCES turns (id),
  step_id      TEXT NOT NULL DEFAULT '' , -- '' for the turn's own row
  created_at   TEXT NOT NULL,
  updated_at   TEXT NOT NULL,
  metrics_json TEXT NOT NULL,
  PRIMARY KEY (turn_id, step_id)
) STRICT;

CREATE TABLE settings (
  key        TEXT PRIMARY KEY NOT NULL,
  value      TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;

PRAGMA application_id = 1128877638; -- "CINF": told apart from other programs' databases
