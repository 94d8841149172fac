-- Other programs that use this memory through our MCP server, and what they were shown.

-- +goose Up
CREATE TABLE mcp_clients (
  name       TEXT NOT NULL PRIMARY KEY,
  scope      TEXT NOT NULL CHECK (scope IN ('asked', 'none', 'all', 'chosen')),
  remember   INTEGER NOT NULL DEFAULT 0 CHECK (remember IN (0, 1)),
  token_hash TEXT NOT NULL DEFAULT '',
  token_at   TEXT,
  claims     TEXT NOT NULL DEFAULT '',
  created_at TEXT NOT NULL,
  seen_at    TEXT
) STRICT;
CREATE INDEX idx_mcp_clients_copy ON mcp_clients (name, scope, remember, token_hash, token_at, claims, created_at, seen_at);

-- What a program with the scope "chosen" may see: a session, or all sessions in a folder.
CREATE TABLE mcp_grants (
  client     TEXT NOT NULL,
  session_id TEXT NOT NULL DEFAULT '',
  folder     TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (client, session_id, folder)
) STRICT;
CREATE INDEX idx_mcp_grants_copy ON mcp_grants (session_id, client, folder);

-- The access record. Its oldest entries are dropped.
CREATE TABLE mcp_accesses (
  id      INTEGER PRIMARY KEY,
  at      TEXT NOT NULL,
  client  TEXT NOT NULL,
  tool    TEXT NOT NULL,
  query   TEXT NOT NULL,
  outcome TEXT NOT NULL CHECK (outcome IN ('answered', 'refused', 'failed')),
  more    INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX idx_mcp_accesses_copy ON mcp_accesses (client, id, at, tool, query, outcome, more);

-- turn_id is empty where a session stood in a list.
CREATE TABLE mcp_shown (
  access_id  INTEGER NOT NULL,
  session_id TEXT NOT NULL,
  turn_id    TEXT NOT NULL DEFAULT '',
  place      INTEGER NOT NULL,
  PRIMARY KEY (access_id, session_id, turn_id)
) STRICT;
CREATE INDEX idx_mcp_shown_copy ON mcp_shown (session_id, turn_id, access_id, place);

-- Notes that programs left, by the key under which they may send one again.
CREATE TABLE mcp_notes (
  client     TEXT NOT NULL,
  key        TEXT NOT NULL,
  session_id TEXT NOT NULL,
  turn_id    TEXT NOT NULL,
  created_at TEXT NOT NULL,
  PRIMARY KEY (client, key)
) STRICT;
CREATE INDEX idx_mcp_notes_copy ON mcp_notes (session_id, turn_id, client, key, created_at);
