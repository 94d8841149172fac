package store

import (
	"maps"
	"path/filepath"
	"slices"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/sqlite"
)

func (s *Core) setRunning(id chat.TurnID, running bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if running {
		if s.running == nil {
			s.running = map[chat.TurnID]bool{}
		}
		s.running[id] = true
	} else {
		delete(s.running, id)
	}
}

func (s *Core) isRunning(id chat.TurnID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running[id]
}

// runningTurns are those that this process accepted or resumed and has not finished.
func (s *Core) runningTurns() []chat.TurnID {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.running))
}

// forget empties what is kept in memory of what is stored.
func (s *Core) forget() {
	s.erasures.Add(1)
	s.requests.clear()
	s.manifests.clear()
	for _, empty := range s.onForget {
		empty()
	}
}

func (s *Core) path() string { return filepath.Join(s.dir, sqlite.DatabaseFile) }

func archivedAt(t *tx, archived bool) *string {
	if !archived {
		return nil
	}
	now := t.Stamp()
	return &now
}

// touch moves a session to the top of the list.
func (t *tx) touch(id string) error {
	_, err := t.Exec(`UPDATE sessions SET updated_at = ? WHERE id = ?`, t.Stamp(), id)
	return err
}
