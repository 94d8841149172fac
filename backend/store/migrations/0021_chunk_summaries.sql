-- Summaries of long passages by the librarian (librarian.chunk_summaries). They are derived: not in the ledger, and deleted
-- with their chunk. summary is empty if the librarian's answer could not be used: it is not asked again.

-- +goose Up
CREATE TABLE chunk_summaries (
  id              TEXT PRIMARY KEY NOT NULL,
  chunk_id        TEXT NOT NULL UNIQUE REFERENCES chunks (id),
  session_id      TEXT NOT NULL REFERENCES sessions (id),
  summary         TEXT NOT NULL,
  generated_by    TEXT NOT NULL, -- a model
  validation_json TEXT,
  created_at      TEXT NOT NULL
) STRICT;
CREATE INDEX idx_chunk_summaries_copy ON chunk_summaries
  (session_id, chunk_id, id, summary, generated_by, validation_json, created_at);
