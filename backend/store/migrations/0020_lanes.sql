-- A session can go on on several machines: each device writes a lane of its own (docs/adr/0022). event_seq stays the order
-- in which this data directory stored the events. Nothing that exists is rewritten.

-- +goose Up
ALTER TABLE events ADD COLUMN lane TEXT NOT NULL DEFAULT '';         -- a device; empty: the device on which it began
ALTER TABLE events ADD COLUMN lane_seq INTEGER NOT NULL DEFAULT 0;   -- the event's number; 0: it is event_seq
CREATE UNIQUE INDEX idx_events_lane ON events (session_id, lane_seq, lane) WHERE lane_seq <> 0;
ALTER TABLE sessions ADD COLUMN begun_by TEXT NOT NULL DEFAULT '';   -- who writes the lane without a name: core.Device
ALTER TABLE branches ADD COLUMN lane TEXT NOT NULL DEFAULT '';       -- that of the event that created it
ALTER TABLE branches ADD COLUMN machine TEXT NOT NULL DEFAULT '';    -- the name of that device
ALTER TABLE branches ADD COLUMN continues TEXT NOT NULL DEFAULT '';  -- the branch of another device that it goes on with
