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
