package ledger

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"contextinfinity/backend/chat"
)

// SnapshotVersion is the version of a snapshot's content. A snapshot of another version is not used; the ledger is then
// replayed without it.
const SnapshotVersion = 1

// Snapshot is a session at one of its events: the reducer's state, from which a replay continues, and the memory of
// the active branch.
type Snapshot struct {
	Version int    `json:"v"`
	State   *State `json:"state"`
	Memory  Memory `json:"memory"`
}

// Memory is the content of a head's summary and of the active pins, by kind (ZIG 3).
type Memory struct {
	Facts     []string `json:"facts"` // pins first
	Decisions []string `json:"decisions"`
	OpenTasks []string `json:"open_tasks"`
}

// MemoryOf reads the list entries under a summary's headings Facts, Decisions and Open tasks.
func MemoryOf(summary string, pins []string) Memory {
	m := Memory{Facts: append([]string{}, pins...), Decisions: []string{}, OpenTasks: []string{}}
	var list *[]string
	for line := range strings.Lines(summary) {
		line = strings.TrimSpace(line)
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			list = map[string]*[]string{"facts": &m.Facts, "decisions": &m.Decisions, "open tasks": &m.OpenTasks}[strings.ToLower(strings.TrimSpace(heading))]
			continue
		}
		if entry, ok := strings.CutPrefix(line, "- "); ok && list != nil && entry != "" {
			*list = append(*list, entry)
		}
	}
	return m
}

// Encode is the snapshot's canonical JSON.
func (s Snapshot) Encode() ([]byte, error) { return chat.MarshalJSON(s) }

// DecodeSnapshot decodes a snapshot. Another version, or an incomplete one, is an error.
func DecodeSnapshot(b []byte) (Snapshot, error) {
	var raw struct {
		Version int             `json:"v"`
		State   json.RawMessage `json:"state"`
		Memory  Memory          `json:"memory"`
	}
	d := json.NewDecoder(bytes.NewReader(b))
	if err := d.Decode(&raw); err != nil {
		return Snapshot{}, err
	}
	if raw.Version != SnapshotVersion {
		return Snapshot{}, fmt.Errorf("snapshot version %d", raw.Version)
	}
	state, err := Decode(raw.State)
	return Snapshot{raw.Version, state, raw.Memory}, err
}
