-- What recall needs: vectors with what tells their readers of a change, attached
-- documents, by which score a chunk came into a context, and requests stored against
-- the chunks that they quote.

-- +goose Up
-- Small names of turns and chunks, given once: some fifty chunks stand in each context.
ALTER TABLE turns ADD COLUMN n INTEGER;
UPDATE turns SET n = rowid;
CREATE UNIQUE INDEX idx_turns_n ON turns (n);
-- When a turn was is asked for each of the many units a search looks at: without reading
-- the rows, which hold whole messages.
CREATE INDEX idx_turns_created ON turns (id, created_at);
ALTER TABLE chunks ADD COLUMN n INTEGER;
UPDATE chunks SET n = rowid;
CREATE UNIQUE INDEX idx_chunks_n ON chunks (n);

-- What chunks stood in the contexts of a turn. Scores are in ten-thousandths. Rank 0
-- is of a context that was made before the turn's last one: a request or a manifest
-- quotes only chunks that stand here for its turn, so that what depends on a chunk is
-- found by idx_retrieved_chunk.
CREATE TABLE retrieved (
  turn_n        INTEGER NOT NULL REFERENCES turns (n),
  rank          INTEGER NOT NULL CHECK (rank >= 0),
  chunk_n       INTEGER NOT NULL REFERENCES chunks (n),
  packed_as     INTEGER NOT NULL CHECK (packed_as IN (0, 1, 2)), -- full, slice, summary
  tokens        INTEGER NOT NULL CHECK (tokens >= 0),
  similarity    INTEGER NOT NULL,
  vector_score  INTEGER NOT NULL,
  keyword_score INTEGER NOT NULL,
  score         INTEGER NOT NULL,
  PRIMARY KEY (turn_n, rank, chunk_n)
) STRICT, WITHOUT ROWID;
INSERT INTO retrieved SELECT t.n, r.rank, c.n, CASE r.packed_as WHEN 'full' THEN 0 WHEN 'slice' THEN 1 ELSE 2 END, r.tokens,
  CAST(round(r.similarity * 10000) AS INTEGER), CAST(round(r.vector_score * 10000) AS INTEGER), CAST(round(r.keyword_score * 10000) AS INTEGER), 0
  FROM retrievals r JOIN turns t ON t.id = r.turn_id JOIN chunks c ON c.id = r.chunk_id;
DROP TABLE retrievals;
CREATE INDEX idx_retrieved_chunk ON retrieved (chunk_n);
CREATE VIEW retrievals AS
  SELECT t.id AS turn_id, c.id AS chunk_id, r.similarity / 10000.0 AS similarity, r.vector_score / 10000.0 AS vector_score,
    r.keyword_score / 10000.0 AS keyword_score, r.score / 10000.0 AS score, r.rank,
    CASE r.packed_as WHEN 0 THEN 'full' WHEN 1 THEN 'slice' ELSE 'summary' END AS packed_as, r.tokens
  FROM retrieved r JOIN turns t ON t.n = r.turn_n JOIN chunks c ON c.n = r.chunk_n WHERE r.rank > 0;

-- A link names what a value was packed against: an earlier one, chunks that it quotes
-- (quotes: their n as varints), or both. A value of depth 0 that quotes has no base.
CREATE TABLE request_links_3 (
  step_id TEXT PRIMARY KEY NOT NULL REFERENCES steps (id),
  base    TEXT REFERENCES steps (id),
  depth   INTEGER NOT NULL CHECK (depth BETWEEN 0 AND 63), -- bases up to the one that has none
  quotes  BLOB,
  CHECK (base <> step_id), CHECK ((base IS NULL) = (depth = 0)), CHECK (base IS NOT NULL OR quotes IS NOT NULL)
) STRICT, WITHOUT ROWID;
INSERT INTO request_links_3 SELECT step_id, base, depth, NULL FROM request_links;
DROP TABLE request_links;
ALTER TABLE request_links_3 RENAME TO request_links;
CREATE INDEX idx_request_links_base ON request_links (base) WHERE base IS NOT NULL;
CREATE TABLE manifest_links_3 (
  turn_id TEXT PRIMARY KEY NOT NULL REFERENCES turns (id),
  base    TEXT REFERENCES turns (id),
  depth   INTEGER NOT NULL CHECK (depth BETWEEN 0 AND 63),
  quotes  BLOB,
  CHECK (base <> turn_id), CHECK ((base IS NULL) = (depth = 0)), CHECK (base IS NOT NULL OR quotes IS NOT NULL)
) STRICT, WITHOUT ROWID;
INSERT INTO manifest_links_3 SELECT turn_id, base, depth, NULL FROM manifest_links;
DROP TABLE manifest_links;
ALTER TABLE manifest_links_3 RENAME TO manifest_links;
CREATE INDEX idx_manifest_links_base ON manifest_links (base) WHERE base IS NOT NULL;

ALTER TABLE files ADD COLUMN tokens INTEGER NOT NULL DEFAULT 0 CHECK (tokens >= 0); -- of its text
ALTER TABLE files ADD COLUMN text TEXT; -- extracted, where content is not itself text

-- Turns whose chunks an earlier chunker made are found by its version.
CREATE INDEX idx_chunks_version ON chunks (chunker_version, source_turn);
-- A text that has a vector is found by the beginning of its hash.
CREATE INDEX idx_units_hash ON units (substr(content_hash, 1, 8));

-- Counted as they come and go: a search need not count a million of them.
ALTER TABLE namespaces ADD COLUMN vectors INTEGER NOT NULL DEFAULT 0;
UPDATE namespaces SET vectors = (SELECT count(*) FROM unit_embeddings e WHERE e.namespace_id = namespaces.id);

-- Who keeps the vectors of the serving namespace in memory reads on from the last
-- unit it has. The generation changes when that would not do: a vector was deleted
-- or changed, one came for an earlier unit, or another namespace serves.
CREATE TABLE vector_generation (
  only_row   INTEGER PRIMARY KEY CHECK (only_row = 1),
  generation INTEGER NOT NULL
) STRICT;
INSERT INTO vector_generation VALUES (1, 1);

-- +goose StatementBegin
CREATE TRIGGER unit_embeddings_insert AFTER INSERT ON unit_embeddings BEGIN
  UPDATE namespaces SET vectors = vectors + 1 WHERE id = new.namespace_id;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER unit_embeddings_delete AFTER DELETE ON unit_embeddings BEGIN
  UPDATE namespaces SET vectors = vectors - 1 WHERE id = old.namespace_id;
  UPDATE vector_generation SET generation = generation + 1
    WHERE EXISTS (SELECT 1 FROM namespaces WHERE id = old.namespace_id AND state = 'serving');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER unit_embeddings_update AFTER UPDATE ON unit_embeddings BEGIN
  UPDATE vector_generation SET generation = generation + 1
    WHERE EXISTS (SELECT 1 FROM namespaces WHERE id = old.namespace_id AND state = 'serving');
END;
-- +goose StatementEnd
