-- What a person keeps for use in many sessions: assistants and saved prompts.

-- +goose Up
CREATE TABLE assistants (
  id           TEXT NOT NULL PRIMARY KEY,
  name         TEXT NOT NULL UNIQUE,
  instructions TEXT NOT NULL DEFAULT '',
  model        TEXT NOT NULL DEFAULT '',
  temperature  REAL,
  effort       TEXT NOT NULL DEFAULT '',
  tools_mode   TEXT NOT NULL DEFAULT '',
  created_at   TEXT NOT NULL,
  updated_at   TEXT NOT NULL
) STRICT;
CREATE INDEX idx_assistants_copy ON assistants (id, name, instructions, model, temperature, effort, tools_mode, created_at, updated_at);

CREATE TABLE saved_prompts (
  id         TEXT NOT NULL PRIMARY KEY,
  name       TEXT NOT NULL UNIQUE,
  text       TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE INDEX idx_saved_prompts_copy ON saved_prompts (id, name, text, created_at, updated_at);

-- The assistant whose settings a session was given last, and its name then; empty: none.
ALTER TABLE sessions ADD COLUMN assistant TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN assistant_name TEXT NOT NULL DEFAULT '';
