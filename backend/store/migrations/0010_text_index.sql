-- The indexed form of texts in scripts without spaces and in letters of another width
-- changed. Which texts have such letters, and what they become, is decided in Go
-- (text_index.go), which runs after this script in the same transaction.

-- +goose Up
SELECT 1;
