-- What recall needs: vectors with what tells their readers of a change, attached
-- documents, and by which score a chunk came into a context.

-- +goose Up
ALTER TABLE retrievals ADD COLUMN score REAL NOT NULL DEFAULT 0;

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
