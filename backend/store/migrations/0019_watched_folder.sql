-- A watched folder is held by its identity, so that a link or another folder in its place is noticed.

-- +goose Up
ALTER TABLE projects ADD COLUMN watch_identity TEXT NOT NULL DEFAULT '';
DROP INDEX idx_projects_copy;
CREATE INDEX idx_projects_copy ON projects (id, name, created_at, updated_at, model, tools_mode, tools_json, watch, scan_json, instructions, watch_identity);
