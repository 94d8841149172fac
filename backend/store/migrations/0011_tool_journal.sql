-- The tool journal in full, and what people decide about tools (SPEC 10).

-- +goose Up
-- The mode that a step ran under; empty: it is older than this column.
ALTER TABLE steps ADD COLUMN tools_mode TEXT NOT NULL DEFAULT '';
-- A session's own mode; empty: the configured one.
ALTER TABLE sessions ADD COLUMN tools_mode TEXT NOT NULL DEFAULT '';

ALTER TABLE tool_calls ADD COLUMN source TEXT NOT NULL DEFAULT '';
ALTER TABLE tool_calls ADD COLUMN tool TEXT NOT NULL DEFAULT '';
ALTER TABLE tool_calls ADD COLUMN definition_hash TEXT NOT NULL DEFAULT '';
ALTER TABLE tool_calls ADD COLUMN state TEXT NOT NULL DEFAULT 'proposed'
  CHECK (state IN ('proposed', 'allowed', 'started', 'unknown', 'done'));
ALTER TABLE tool_calls ADD COLUMN decision TEXT NOT NULL DEFAULT ''
  CHECK (decision IN ('', 'once', 'session', 'always', 'deny', 'never', 'not_run'));
ALTER TABLE tool_calls ADD COLUMN decided_at TEXT;
ALTER TABLE tool_calls ADD COLUMN runs INTEGER NOT NULL DEFAULT 0 CHECK (runs >= 0);
ALTER TABLE tool_calls ADD COLUMN ended_at TEXT;
ALTER TABLE tool_calls ADD COLUMN reason TEXT NOT NULL DEFAULT ''
  CHECK (reason IN ('', 'cancelled', 'timeout', 'ended', 'unreadable', 'crash'));
ALTER TABLE tool_calls ADD COLUMN redactions TEXT NOT NULL DEFAULT '';
CREATE INDEX idx_tool_batches_open ON tool_batches (state) WHERE state = 'open';

-- Decisions that hold for later calls. tool is empty for all of a source, session_id for
-- all sessions.
CREATE TABLE tool_permissions (
  source          TEXT NOT NULL,
  tool            TEXT NOT NULL DEFAULT '',
  session_id      TEXT NOT NULL DEFAULT '',
  decision        TEXT NOT NULL CHECK (decision IN ('session', 'always', 'never')),
  definition_hash TEXT NOT NULL DEFAULT '',
  created_at      TEXT NOT NULL,
  PRIMARY KEY (source, tool, session_id)
) STRICT;
CREATE INDEX idx_tool_permissions_copy ON tool_permissions (session_id, source, tool, decision, definition_hash, created_at);

-- Definitions of tools as people saw and accepted them. A tool has one that is current.
CREATE TABLE tool_definitions (
  hash        TEXT NOT NULL,
  source      TEXT NOT NULL,
  tool        TEXT NOT NULL,
  accepted_at TEXT NOT NULL,
  current     INTEGER NOT NULL CHECK (current IN (0, 1)),
  definition  TEXT NOT NULL,
  PRIMARY KEY (source, tool, hash)
) STRICT;
CREATE INDEX idx_tool_definitions_copy ON tool_definitions (hash, source, tool, accepted_at, current, definition);

-- Tools that a person marked as having no effects: only these, and built-in ones, may run
-- again by themselves.
CREATE TABLE tool_marks (
  source     TEXT NOT NULL,
  tool       TEXT NOT NULL,
  hash       TEXT NOT NULL,
  created_at TEXT NOT NULL,
  PRIMARY KEY (source, tool)
) STRICT;
CREATE INDEX idx_tool_marks_copy ON tool_marks (source, tool, hash, created_at);
