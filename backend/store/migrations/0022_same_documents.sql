-- Two devices may have attached one document to a session before they knew of each other.

-- +goose Up
DROP INDEX idx_files_hash;
CREATE INDEX idx_files_hash ON files (session_id, content_hash);
