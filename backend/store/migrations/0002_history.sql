-- What a history without end needs: what turns weigh, the sessions' own choices,
-- ranges to summarise, and requests stored against the ones before them.

-- +goose Up
-- Derived: how many tokens a turn takes in a prompt. Not in the ledger.
CREATE TABLE turn_tokens (
  turn_id  TEXT NOT NULL REFERENCES turns (id),
  encoding TEXT NOT NULL CHECK (encoding <> ''),
  tokens   INTEGER NOT NULL CHECK (tokens >= 0),
  PRIMARY KEY (turn_id, encoding)
) STRICT, WITHOUT ROWID;

ALTER TABLE jobs ADD COLUMN from_seq INTEGER NOT NULL DEFAULT 0 CHECK (from_seq >= 0);

ALTER TABLE sessions ADD COLUMN temperature REAL CHECK (temperature IS NULL OR temperature BETWEEN 0 AND 2);
ALTER TABLE sessions ADD COLUMN effort TEXT NOT NULL DEFAULT '' CHECK (effort IN ('', 'minimal', 'low', 'medium', 'high'));

ALTER TABLE calibrations ADD COLUMN mean REAL NOT NULL DEFAULT 1 CHECK (mean > 0);
ALTER TABLE calibrations ADD COLUMN revision INTEGER NOT NULL DEFAULT 0 CHECK (revision >= 0); -- changes of factor told to a ledger

-- A summary that is packed against its parent's; summary is empty then.
ALTER TABLE states ADD COLUMN summary_z BLOB;

-- A step's normalized items that are packed against the final answer of its turn,
-- which they repeat; normalized_items_json is empty then.
ALTER TABLE steps ADD COLUMN items_z BLOB;

-- A request or manifest that is packed against an earlier one names it here. What
-- a row is the base of cannot be deleted before it: find those by base.
CREATE TABLE request_links (
  step_id TEXT PRIMARY KEY NOT NULL REFERENCES steps (id),
  base    TEXT NOT NULL REFERENCES steps (id),
  depth   INTEGER NOT NULL CHECK (depth BETWEEN 1 AND 31), -- bases up to the one that stands alone
  CHECK (base <> step_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX idx_request_links_base ON request_links (base);
CREATE TABLE manifest_links (
  turn_id TEXT PRIMARY KEY NOT NULL REFERENCES turns (id),
  base    TEXT NOT NULL REFERENCES turns (id),
  depth   INTEGER NOT NULL CHECK (depth BETWEEN 1 AND 31),
  CHECK (base <> turn_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX idx_manifest_links_base ON manifest_links (base);

CREATE INDEX idx_turns_manifest ON turns (branch_id, turn_seq) WHERE manifest IS NOT NULL;

-- The text index reads what it holds from a view, so that a unit need not repeat
-- its message: where said is 1, text is only what was put before the words, which
-- are bytes start to end of the message's only block. Units are deleted before
-- their message is changed.
DROP TRIGGER units_fts_insert;
DROP TRIGGER units_fts_delete;
DROP TRIGGER units_fts_update;
DROP TABLE units_vocab;
DROP TABLE units_fts;
ALTER TABLE units ADD COLUMN said INTEGER NOT NULL DEFAULT 0 CHECK (said IN (0, 1));

CREATE VIEW unit_messages AS
  SELECT u.n, u.text, u.pairs, u.said, u.start_offset, u.end_offset,
    CASE u.message WHEN 'user' THEN t.user_message_json ELSE t.final_assistant_message_json END AS message_json
  FROM units u LEFT JOIN turns t ON t.id = u.turn_id;
CREATE VIEW unit_texts AS
  SELECT n, pairs, CASE WHEN said = 0 THEN text WHEN json_valid(message_json) THEN
    text || coalesce(CAST(substr(CAST(json_extract(message_json, '$.blocks[0].text') AS BLOB),
      start_offset + 1, end_offset - start_offset) AS TEXT), '') ELSE text END AS text
  FROM unit_messages;
CREATE VIEW unit_index AS SELECT n, coalesce(pairs, text) AS indexed_text FROM unit_texts;

CREATE VIRTUAL TABLE units_fts USING fts5 (
  indexed_text, content='unit_index', content_rowid='n', tokenize='porter unicode61'
);
INSERT INTO units_fts (units_fts) VALUES ('rebuild');
CREATE VIRTUAL TABLE units_vocab USING fts5vocab (units_fts, row);

-- +goose StatementBegin
CREATE TRIGGER units_fts_insert AFTER INSERT ON units BEGIN
  INSERT INTO units_fts (rowid, indexed_text) SELECT n, indexed_text FROM unit_index WHERE n = new.n;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER units_fts_delete BEFORE DELETE ON units BEGIN
  INSERT INTO units_fts (units_fts, rowid, indexed_text) SELECT 'delete', n, indexed_text FROM unit_index WHERE n = old.n;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER units_fts_update BEFORE UPDATE OF n, text, pairs, said, start_offset, end_offset ON units BEGIN
  INSERT INTO units_fts (units_fts, rowid, indexed_text) SELECT 'delete', n, indexed_text FROM unit_index WHERE n = old.n;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER units_fts_updated AFTER UPDATE OF n, text, pairs, said, start_offset, end_offset ON units BEGIN
  INSERT INTO units_fts (rowid, indexed_text) SELECT n, indexed_text FROM unit_index WHERE n = new.n;
END;
-- +goose StatementEnd
