-- Tables that no version ever wrote to.

-- +goose Up
DROP TABLE tags;
DROP TABLE dictionaries;
