-- What the workbench needs: folders of sessions, and failed turns found without
-- reading the rest.

-- +goose Up
ALTER TABLE sessions ADD COLUMN folder TEXT NOT NULL DEFAULT '';
CREATE INDEX idx_sessions_folder ON sessions (folder) WHERE folder <> '';
-- With the other partial indexes of turns: those that are in no text index.
CREATE INDEX idx_turns_failed ON turns (branch_id, turn_seq) WHERE phase = 'Failed';
