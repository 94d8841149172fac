-- +goose Up
-- How often a job was claimed. Unlike the count of its tries it never goes back, so that
-- a worker which lost its lease is told from the one that holds it now.
ALTER TABLE jobs ADD COLUMN claim INTEGER NOT NULL DEFAULT 0 CHECK (claim >= 0);
