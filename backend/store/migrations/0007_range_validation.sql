-- How a range summary was checked, as states have it: tries, reason, what was missing, what was added.

-- +goose Up
ALTER TABLE summaries ADD COLUMN validation_json TEXT;
