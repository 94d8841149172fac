package bundle

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"contextinfinity/backend/chat"
)

// Versions of the layout. A bundle has version 2 (ZIG: hard cutover) unless requests are left out of it; then it has
// version 3, so that a program that expects every request refuses it. Nothing else differs. A session that several
// devices have written has version 4: its events have a lane and a number in it, and event_seq is their position.
const (
	SchemaVersion        = 2
	SchemaVersionLeftOut = 3
	SchemaVersionLanes   = 4
)

// integrity is the only integrity mode: each event contains the hash of the previous one.
const integrity = "sha256-chain"

// Meta is the description of a bundle.
type Meta struct {
	SchemaVersion int            `json:"schema_version"`
	Program       string         `json:"program"`
	Version       string         `json:"version"`
	SessionID     chat.SessionID `json:"session_id"`
	Title         string         `json:"title"`
	CreatedAt     string         `json:"created_at"`  // of the session
	ExportedAt    string         `json:"exported_at"` // the only difference between two exports of the same session
	IntegrityMode string         `json:"integrity_mode"`
	Head          Head           `json:"head"`
	Counts        Counts         `json:"counts"`
	// LeftOut is the number of requests for which contents.zst has only a mark.
	LeftOut int `json:"left_out_requests,omitempty"`
	// Lanes is the number of lanes, if there are several.
	Lanes int `json:"lanes,omitempty"`
}

// version is the version of the layout.
func (m Meta) version() int {
	if m.Lanes > 0 {
		return SchemaVersionLanes
	}
	if m.LeftOut > 0 {
		return SchemaVersionLeftOut
	}
	return SchemaVersion
}

// Head is the last event, whose hash covers the whole ledger.
type Head struct {
	EventSeq int64  `json:"event_seq"`
	Hash     string `json:"hash"` // in hex
}

// Counts are informative, not checked.
type Counts struct {
	Branches  int `json:"branches"`
	Turns     int `json:"turns"`
	Documents int `json:"documents"`
}

// encode returns meta.json.
func (m Meta) encode() ([]byte, error) {
	m.SchemaVersion, m.IntegrityMode = m.version(), integrity
	compact, err := chat.MarshalJSON(m)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = json.Indent(&b, compact, "", "  ")
	b.WriteByte('\n')
	return b.Bytes(), err
}

// decodeMeta parses meta.json. It checks the version first, because the rest may mean something else in another
// version.
func decodeMeta(b []byte) (Meta, error) {
	var version struct {
		SchemaVersion *json.Number `json:"schema_version"`
	}
	if err := json.Unmarshal(b, &version); err != nil {
		return Meta{}, refused("meta.json cannot be read: %v", err)
	}
	switch v := version.SchemaVersion; {
	case v == nil:
		return Meta{}, otherVersion("meta.json names no schema_version")
	case v.String() == "1":
		return Meta{}, otherVersion("it has version 1, which is no longer supported")
	case v.String() != "2" && v.String() != "3" && v.String() != "4":
		return Meta{}, otherVersion(fmt.Sprintf("it has version %.20s, but this program reads only versions %d to %d", v.String(), SchemaVersion, SchemaVersionLanes)).
			WithHint("a newer version of the program may read it")
	}
	var m Meta
	if err := json.Unmarshal(b, &m); err != nil {
		return m, refused("meta.json cannot be read: %v", err)
	}
	hash, err := hex.DecodeString(m.Head.Hash)
	switch {
	case m.IntegrityMode != integrity:
		return m, otherVersion(fmt.Sprintf("its integrity mode %.40q is not known", m.IntegrityMode))
	case (m.Lanes > 0) != (m.SchemaVersion == SchemaVersionLanes):
		return m, refused("meta.json does not say how many devices wrote it")
	case !chat.ValidID(string(m.SessionID)):
		return m, refused("meta.json names no session")
	case m.Head.EventSeq < 1 || err != nil || len(hash) != 32:
		return m, refused("meta.json names no last event")
	}
	return m, nil
}

// refused is the error for an invalid bundle.
func refused(format string, args ...any) *chat.Error {
	return chat.Errorf(chat.CodeCorrupt, "bundle.read", "The bundle was refused and nothing was changed: %s.", fmt.Sprintf(format, args...)).
		WithHint("export it again, or copy it again")
}

// hostile is the error for a malicious archive.
func hostile(format string, args ...any) *chat.Error {
	return chat.Errorf(chat.CodeInvalid, "bundle.read", "The bundle was refused and nothing was changed: %s.", fmt.Sprintf(format, args...))
}

// otherVersion is the error for an unknown version.
func otherVersion(reason string) *chat.Error {
	return chat.Errorf(chat.CodeNewer, "bundle.read", "The bundle was refused and nothing was changed: %s.", reason)
}
