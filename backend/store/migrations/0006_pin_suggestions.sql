-- Standing instructions that were recognised in what the user said, offered as pins.

-- +goose Up
-- The text is the slice [span_from, span_to) of the message's text, in bytes: nothing is
-- copied that a hard delete would have to look for.
CREATE TABLE pin_suggestions (
  id           TEXT PRIMARY KEY NOT NULL,
  session_id   TEXT NOT NULL REFERENCES sessions (id),
  branch_id    TEXT NOT NULL REFERENCES branches (id),
  turn_id      TEXT NOT NULL REFERENCES turns (id),
  turn_seq     INTEGER NOT NULL,
  span_from    INTEGER NOT NULL CHECK (span_from >= 0),
  span_to      INTEGER NOT NULL CHECK (span_to > span_from),
  dismissed_at TEXT,
  pin_id       TEXT, -- the pin that was made of it
  UNIQUE (turn_id, span_from)
) STRICT;
CREATE INDEX idx_pin_suggestions_branch ON pin_suggestions (branch_id, turn_seq);
