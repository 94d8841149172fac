package ledger

import (
	"encoding/json"

	"contextinfinity/backend/chat"
)

// PayloadVersion is the version of the payloads below. A payload of another version
// is refused; members that are added later are optional in it.
const PayloadVersion = 1

// envelope is the canonical form of a payload: compact JSON, members in the
// order of the Go type, HTML characters unescaped (chat.MarshalJSON).
type envelope[D any] struct {
	Version int `json:"v"`
	Data    D   `json:"data"`
}

// Payload is the canonical JSON of what an event tells.
func Payload(data any) ([]byte, error) {
	return chat.MarshalJSON(envelope[any]{PayloadVersion, data})
}

// The payloads. Messages, items and usage stand in them as raw JSON, byte for
// byte what the derived table holds; long request and response bytes stay in
// their step and are here by hash.
type (
	SessionCreated struct {
		Title        string        `json:"title"`
		SystemPrompt string        `json:"system_prompt"`
		Source       string        `json:"source"`
		ActiveBranch chat.BranchID `json:"active_branch"`
	}
	TextChanged struct {
		Text string `json:"text"`
	}
	SettingsChanged struct {
		SystemPrompt string   `json:"system_prompt"`
		Temperature  *float64 `json:"temperature"`
		Effort       string   `json:"effort"`
	}
	FlagChanged struct {
		On bool `json:"on"`
	}
	// SessionImported tells that turns of another program's conversation were written, and
	// where the session then stands in the list.
	SessionImported struct {
		Source    string `json:"source"`
		ID        string `json:"conversation_id"` // the source's own
		Parent    string `json:"parent_id,omitempty"`
		Key       string `json:"content_key"`
		UpdatedAt string `json:"updated_at"`
	}
	BranchCreated struct {
		Label        string        `json:"label"`
		ParentBranch chat.BranchID `json:"parent_branch"`
		ForkTurn     chat.TurnID   `json:"fork_turn"`
		ForkSeq      int64         `json:"fork_seq"`
		BaseState    chat.StateID  `json:"base_state"`
		BaseSeq      int64         `json:"base_seq"`
	}
	TurnAccepted struct {
		BranchID    chat.BranchID   `json:"branch_id"`
		Seq         int64           `json:"turn_seq"`
		StateBefore chat.StateID    `json:"state_before"`
		User        json.RawMessage `json:"user_message"`
		Provider    string          `json:"provider"`
		Model       string          `json:"model"`
		RetryOf     chat.TurnID     `json:"retry_of"`
	}
	TurnPrepared struct {
		ManifestSHA256  string `json:"manifest_sha256"`
		Tokens          int    `json:"tokens"`
		RetrievedSHA256 string `json:"retrieved_sha256,omitempty"` // of what memory it holds; empty: none
	}
	TurnFinalized struct {
		Outcome   chat.Outcome    `json:"outcome"`
		Assistant json.RawMessage `json:"assistant_message"`
		Usage     *chat.Usage     `json:"usage"`
	}
	TurnEnded struct { // interrupted or failed
		Outcome chat.Outcome  `json:"outcome"`
		Failure *chat.Failure `json:"error"`
		Usage   *chat.Usage   `json:"usage"`
	}
	TurnIndexed struct {
		Status  chat.IndexStatus `json:"status"` // empty: stored, its vectors to come
		Chunks  []IndexedChunk   `json:"chunks"`
		Dropped bool             `json:"dropped,omitempty"` // units of earlier chunkers; without chunks, all units
	}
	IndexedChunk struct {
		ID      chat.ChunkID   `json:"chunk_id"`
		File    chat.FileID    `json:"file_id,omitempty"`
		Ordinal int            `json:"ordinal"`
		Role    chat.Role      `json:"role"`
		Start   int            `json:"start"`
		End     int            `json:"end"`
		Type    chat.ChunkType `json:"chunk_type"`
		Tokens  int            `json:"token_est"`
		Version int            `json:"chunker_version"`
		SHA256  string         `json:"content_hash"`
		Summary string         `json:"summary"`
		Units   []IndexedUnit  `json:"units"`
	}
	IndexedUnit struct {
		ID     chat.UnitID `json:"unit_id"`
		Start  int         `json:"start"`
		End    int         `json:"end"`
		Tokens int         `json:"tokens"`
		Text   string      `json:"text"`                  // of a document's: what stands before the words
		SHA256 string      `json:"text_sha256,omitempty"` // of all of it, where text is not that
	}
	StepStarted struct {
		TurnID        chat.TurnID `json:"turn_id"`
		Index         int         `json:"step_index"`
		Attempt       int         `json:"attempt"`
		Provider      string      `json:"provider"`
		ModelID       string      `json:"model_id"`
		StreamPath    string      `json:"stream_path"`
		RequestSHA256 string      `json:"request_sha256"`
		RequestBytes  int         `json:"request_bytes"`
	}
	StepEnded struct {
		TurnID         chat.TurnID      `json:"turn_id"`
		Outcome        chat.StepOutcome `json:"outcome"`
		Items          json.RawMessage  `json:"normalized_items"`
		Usage          *chat.Usage      `json:"usage"`
		DisplayedBytes int64            `json:"stream_displayed_bytes"`
		DurableBytes   int64            `json:"stream_durable_bytes"`
		ResponseSHA256 string           `json:"response_sha256,omitempty"`
		EventsSHA256   string           `json:"raw_events_sha256,omitempty"`
	}
	StateCommitted struct {
		BranchID    chat.BranchID    `json:"branch_id"`
		Seq         int64            `json:"state_seq"`
		ParentID    chat.StateID     `json:"parent_id"`
		CoversSeq   int64            `json:"covers_seq"`
		Summary     string           `json:"summary"`
		PinnedFacts string           `json:"pinned_facts"`
		Tokens      int              `json:"token_count_est"`
		Origin      chat.StateOrigin `json:"origin"`
		Model       string           `json:"model"`
		Validation  json.RawMessage  `json:"validation,omitempty"`
		Turns       []chat.TurnID    `json:"turns"`
		Epoch       int64            `json:"epoch"` // of the branch, once moved
	}
	SummaryCreated struct {
		BranchID       chat.BranchID `json:"branch_id"`
		From           int64         `json:"from_seq"`
		To             int64         `json:"to_seq"`
		Content        string        `json:"content"`
		Tokens         int           `json:"token_count"`
		OriginalTokens int           `json:"original_tokens"`
		GeneratedBy    string        `json:"generated_by"`
		// Validation is left out where there is none, as before there was any.
		Validation json.RawMessage `json:"validation,omitempty"`
	}
	SummarySuperseded struct {
		By string `json:"superseded_by"`
	}
	CalibrationSet struct {
		Provider string  `json:"provider"`
		ModelID  string  `json:"model_id"`
		Factor   float64 `json:"factor"`
		Samples  int     `json:"samples"`
		Revision int64   `json:"revision"` // counts the changes of this model's factor
	}
	PinChanged struct {
		BranchID  chat.BranchID `json:"branch_id"`
		AfterTurn int64         `json:"after_turn_seq"`
		Replaces  chat.PinID    `json:"replaces"`
		Text      string        `json:"text"`
		Tokens    int           `json:"tokens"`
	}
	PinsMoved struct {
		BranchID  chat.BranchID `json:"branch_id"`
		AfterTurn int64         `json:"after_turn_seq"`
		Pins      []chat.PinID  `json:"pins"`
	}
	FileAdded struct { // the bytes stay in the file
		TurnID     chat.TurnID `json:"turn_id"`
		Name       string      `json:"name"`
		MediaType  string      `json:"media_type"`
		Size       int64       `json:"size"`
		Tokens     int         `json:"tokens"`
		SHA256     string      `json:"content_hash"`
		TextSHA256 string      `json:"text_hash"`
	}
)
