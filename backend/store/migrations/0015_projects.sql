-- Projects: folders of sessions with instructions, defaults, pinned facts and files.

-- +goose Up
-- How far a session's memory reaches; empty: its project's, else the configured scope.
ALTER TABLE sessions ADD COLUMN memory_scope TEXT NOT NULL DEFAULT '';

-- The sessions whose folder has its name belong to a project.
CREATE TABLE projects (
  id           TEXT PRIMARY KEY NOT NULL,
  name         TEXT NOT NULL UNIQUE CHECK (name <> ''),
  created_at   TEXT NOT NULL,
  updated_at   TEXT NOT NULL,
  model        TEXT NOT NULL DEFAULT '',
  tools_mode   TEXT NOT NULL DEFAULT '' CHECK (tools_mode IN ('', 'disabled', 'parse_only', 'enabled')),
  tools_json   TEXT NOT NULL DEFAULT '[]',
  watch        TEXT NOT NULL DEFAULT '',
  scan_json    TEXT NOT NULL DEFAULT '', -- the last look at the watched folder that changed something
  instructions TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX idx_projects_copy ON projects (id, name, created_at, updated_at, model, tools_mode, tools_json, watch, scan_json, instructions);

CREATE TABLE project_facts (
  id         TEXT PRIMARY KEY NOT NULL,
  project_id TEXT NOT NULL REFERENCES projects (id),
  position   INTEGER NOT NULL CHECK (position >= 0),
  text       TEXT NOT NULL CHECK (text <> '')
) STRICT;
CREATE INDEX idx_project_facts_copy ON project_facts (project_id, position, id, text);

-- Each file is held by a session of its own, with the source "files". An earlier version of
-- a file that a context quotes stays as one that is not current.
CREATE TABLE project_files (
  session_id  TEXT PRIMARY KEY NOT NULL REFERENCES sessions (id),
  project_id  TEXT NOT NULL REFERENCES projects (id),
  kind        TEXT NOT NULL CHECK (kind IN ('document', 'watched')),
  path        TEXT NOT NULL CHECK (path <> ''),
  current     INTEGER NOT NULL CHECK (current IN (0, 1)),
  modified_at TEXT NOT NULL,
  read_at     TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX idx_project_files_path ON project_files (project_id, kind, path) WHERE current = 1;
CREATE INDEX idx_project_files_copy ON project_files (project_id, session_id, kind, path, current, modified_at, read_at);
CREATE INDEX idx_sessions_files ON sessions (id) WHERE source = 'files';
