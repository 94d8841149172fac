package core

import (
	"maps"
	"path/filepath"
	"slices"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/sqlite"
)

func (s *Core) SetRunning(id chat.TurnID, running bool) {
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

func (s *Core) IsRunning(id chat.TurnID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running[id]
}

// RunningTurns returns the turns that this process accepted or resumed and has not finished.
func (s *Core) RunningTurns() []chat.TurnID {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.running))
}

// Forget clears the in-memory caches of stored data.
func (s *Core) Forget() {
	s.Deletions.Add(1)
	s.Requests.clear()
	s.Manifests.clear()
	for _, clearCache := range s.OnForget {
		clearCache()
	}
}

func (s *Core) Path() string { return filepath.Join(s.Dir, sqlite.DatabaseFile) }

func ArchivedAt(t *Tx, archived bool) *string {
	if !archived {
		return nil
	}
	now := t.Stamp()
	return &now
}

// Touch moves a session to the top of the list.
func (t *Tx) Touch(id string) error {
	return t.Run(`UPDATE sessions SET updated_at = ? WHERE id = ?`, t.Stamp(), id)
}
