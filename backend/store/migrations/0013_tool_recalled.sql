-- Which turns the result of a tool call quotes: what a model looked up in memory by itself.
-- The turns may be of any session, and may be gone.

-- +goose Up
CREATE TABLE tool_recalled (
  tool_call_id TEXT NOT NULL REFERENCES tool_calls (id),
  place        INTEGER NOT NULL,
  session_id   TEXT NOT NULL,
  turn_id      TEXT NOT NULL,
  PRIMARY KEY (tool_call_id, place)
) STRICT;
CREATE INDEX idx_tool_recalled_turn ON tool_recalled (session_id, turn_id, tool_call_id);
