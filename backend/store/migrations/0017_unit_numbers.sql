-- Units are cached in memory by their numbers. A deleted unit changes the generation, since its number may be given to
-- a new unit. So far only the deletion of a serving vector changed it.

-- +goose Up
-- +goose StatementBegin
CREATE TRIGGER units_generation AFTER DELETE ON units BEGIN
  UPDATE vector_generation SET generation = generation + 1;
END;
-- +goose StatementEnd
