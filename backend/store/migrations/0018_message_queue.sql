-- Several messages of a branch can wait in a queue. Before, its draft could be marked as queued.

-- +goose Up
CREATE TABLE queued_messages (
  id           TEXT PRIMARY KEY NOT NULL,
  branch_id    TEXT NOT NULL REFERENCES branches (id),
  position     INTEGER NOT NULL,
  created_at   TEXT NOT NULL,
  message_json TEXT NOT NULL
) STRICT;
CREATE INDEX idx_queued_messages_branch ON queued_messages (branch_id, position);
CREATE INDEX idx_queued_messages_copy ON queued_messages (id, branch_id, position, created_at, message_json);

INSERT INTO queued_messages (id, branch_id, position, created_at, message_json)
  SELECT branch_id, branch_id, 1, updated_at, message_json FROM drafts WHERE queued = 1;
DELETE FROM drafts WHERE queued = 1;
DROP INDEX idx_drafts_copy;
ALTER TABLE drafts DROP COLUMN queued;
CREATE INDEX idx_drafts_copy ON drafts (branch_id, updated_at, message_json);
