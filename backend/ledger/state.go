package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"contextinfinity/backend/chat"
)

// Sum represents content by the first 128 bits of its SHA-256 in hex, empty for none. The chain and the database rows
// have complete hashes; here, different contents only need to be distinguished.
type Sum string

const sumBytes = 16

// SumOf is the sum of the concatenated contents.
func SumOf(parts ...[]byte) Sum {
	h := sha256.New()
	for _, p := range parts {
		h.Write(p)
	}
	return SumOfHash(h.Sum(nil))
}

// SumOfText is the sum of a text; an empty one counts as content.
func SumOfText(s string) Sum { return SumOf([]byte(s)) }

// SumOfName is the sum of a name; empty for none, as in earlier versions.
func SumOfName(name string) Sum {
	if name == "" {
		return ""
	}
	return SumOfText(name)
}

// SumOfHash is the sum for a SHA-256; empty for none.
func SumOfHash(hash []byte) Sum {
	return Sum(hex.EncodeToString(hash[:min(len(hash), sumBytes)]))
}

// sumOfHex is the sum for a SHA-256 in hex, as in payloads; empty for none.
func sumOfHex(s string) (Sum, error) {
	hash, err := hex.DecodeString(s)
	if err == nil && len(hash) != 0 && len(hash) != sha256.Size {
		err = fmt.Errorf("%d bytes are not a SHA-256", len(hash))
	}
	return SumOfHash(hash), err
}

// sumOfJSON is the sum of a value's stored form; empty for nil.
func sumOfJSON[T any](v *T) (Sum, error) {
	if v == nil {
		return "", nil
	}
	b, err := chat.MarshalJSON(v)
	return SumOf(b), err
}

// SumOfCheckpoint is the sum of a state summary's content.
func SumOfCheckpoint(summary, pinned string) Sum {
	return SumOf([]byte(summary), []byte{0}, []byte(pinned))
}

// SumOfRaw is the sum of external JSON without its white space; empty for none.
func SumOfRaw(raw []byte) Sum {
	if len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return SumOf(raw)
	}
	return SumOf(b.Bytes())
}

// State is the content of a ledger up to an event: all derived facts of a session, by id.
type State struct {
	SessionID string `json:"session_id"`
	EventSeq  int64  `json:"event_seq"`
	EventHash string `json:"event_hash"` // of that event, in hex

	Sessions     map[string]*Session     `json:"sessions"` // exactly one
	Branches     map[string]*Branch      `json:"branches"`
	States       map[string]*Checkpoint  `json:"states"`
	Turns        map[string]*Turn        `json:"turns"`
	Steps        map[string]*Step        `json:"steps"`
	Pins         map[string]*Pin         `json:"pins"`
	PinOrders    map[string]*PinOrder    `json:"pin_orders"`
	Summaries    map[string]*Summary     `json:"summaries"`
	Files        map[string]*File        `json:"files"` // documents that were sent
	Chunks       map[string]*Chunk       `json:"chunks"`
	Units        map[string]*Unit        `json:"units"`
	ToolBatches  map[string]*ToolBatch   `json:"tool_batches,omitempty"`
	ToolCalls    map[string]*ToolCall    `json:"tool_calls,omitempty"`
	Calibrations map[string]*Calibration `json:"calibrations"` // the newest in this ledger, by provider and model

	unitsOf map[string][]string // by turn
}

// tables returns all kinds of records that represent rows of the session.
func (s *State) tables() []table {
	return []table{
		{"sessions", records[Session](s.Sessions)}, {"branches", records[Branch](s.Branches)}, {"states", records[Checkpoint](s.States)},
		{"turns", records[Turn](s.Turns)}, {"steps", records[Step](s.Steps)}, {"pins", records[Pin](s.Pins)},
		{"pin_orders", records[PinOrder](s.PinOrders)}, {"summaries", records[Summary](s.Summaries)}, {"files", records[File](s.Files)},
		{"chunks", records[Chunk](s.Chunks)}, {"units", records[Unit](s.Units)},
		{"tool_batches", records[ToolBatch](s.ToolBatches)}, {"tool_calls", records[ToolCall](s.ToolCalls)},
	}
}

// NewState is the state before the first event.
func NewState(session string) *State {
	return &State{
		SessionID: session, Sessions: map[string]*Session{}, Branches: map[string]*Branch{}, States: map[string]*Checkpoint{},
		Turns: map[string]*Turn{}, Steps: map[string]*Step{}, Pins: map[string]*Pin{}, PinOrders: map[string]*PinOrder{},
		Summaries: map[string]*Summary{}, Files: map[string]*File{}, Chunks: map[string]*Chunk{}, Units: map[string]*Unit{},
		ToolBatches: map[string]*ToolBatch{}, ToolCalls: map[string]*ToolCall{},
		Calibrations: map[string]*Calibration{}, unitsOf: map[string][]string{},
	}
}

// Encode is the state's canonical JSON: members in order, maps sorted by key.
func (s *State) Encode() ([]byte, error) { return chat.MarshalJSON(s) }

// Decode decodes a state. An incomplete one is an error.
func Decode(b []byte) (*State, error) {
	s := NewState("")
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(s); err != nil {
		return nil, err
	}
	if s.SessionID == "" || s.EventSeq < 1 || len(s.Sessions) != 1 {
		return nil, errors.New("the state has no events or not exactly one session")
	}
	for _, t := range append(s.tables(), table{"calibrations", records[Calibration](s.Calibrations)}) {
		if t.rows.containsNil() {
			return nil, fmt.Errorf("a record of %s is empty", t.name)
		}
	}
	for id, u := range s.Units {
		if s.Chunks[u.ChunkID] == nil {
			return nil, fmt.Errorf("unit %s has no chunk", id)
		}
		s.unitsOf[u.TurnID] = append(s.unitsOf[u.TurnID], id)
	}
	return s, nil
}
