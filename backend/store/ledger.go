package store

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"

	"contextinfinity/backend/chat"
)

// EventType names what a ledger event records. The list is closed: it is part of
// the format of bundles and of every later replay.
type EventType string

const (
	EventSessionCreated  EventType = "session_created"
	EventSessionRenamed  EventType = "session_renamed"
	EventSessionArchived EventType = "session_archived" // or brought back
	EventSessionPinned   EventType = "session_pinned"   // or unpinned
	EventSessionPrompt   EventType = "session_prompt_set"
	EventSessionModel    EventType = "session_model_set"
	EventSessionSettings EventType = "session_settings_set"
	EventSessionImported EventType = "session_imported"

	EventBranchCreated  EventType = "branch_created"
	EventBranchSwitched EventType = "branch_switched"
	EventBranchRenamed  EventType = "branch_renamed"
	EventBranchArchived EventType = "branch_archived" // or brought back

	EventTurnAccepted    EventType = "turn_accepted"
	EventTurnPrepared    EventType = "turn_prepared"
	EventTurnInterrupted EventType = "turn_interrupted"
	EventTurnResumed     EventType = "turn_resumed"
	EventTurnFinalized   EventType = "turn_finalized"
	EventTurnFailed      EventType = "turn_failed"
	EventTurnIndexed     EventType = "turn_indexed"

	EventStepStarted EventType = "step_started"
	EventStepEnded   EventType = "step_ended"

	EventStateCommitted EventType = "state_committed"

	EventPinAdded   EventType = "pin_added"
	EventPinEdited  EventType = "pin_edited"
	EventPinRemoved EventType = "pin_removed"
	EventPinsMoved  EventType = "pins_moved"

	EventSummaryCreated    EventType = "summary_created"
	EventSummarySuperseded EventType = "summary_superseded"
	EventChunkSummarized   EventType = "chunk_summarized"

	EventFileAdded   EventType = "file_added"
	EventFileRemoved EventType = "file_removed"

	EventToolBatchStarted   EventType = "tool_batch_started"
	EventToolResultRecorded EventType = "tool_result_recorded"
	EventToolBatchCommitted EventType = "tool_batch_committed"
	EventToolBatchAbandoned EventType = "tool_batch_abandoned"

	EventTagAdded   EventType = "tag_added"
	EventTagRemoved EventType = "tag_removed"

	EventCalibrationSet    EventType = "calibration_set"
	EventRetrievalRecorded EventType = "retrieval_recorded"
	EventContentErased     EventType = "content_erased"
)

// eventTypes is the closed list, for verify.
var eventTypes = func() map[EventType]bool {
	set := map[EventType]bool{}
	for _, t := range []EventType{
		EventSessionCreated, EventSessionRenamed, EventSessionArchived, EventSessionPinned, EventSessionPrompt,
		EventSessionModel, EventSessionSettings, EventSessionImported, EventBranchCreated, EventBranchSwitched, EventBranchRenamed,
		EventBranchArchived, EventTurnAccepted, EventTurnPrepared, EventTurnInterrupted, EventTurnResumed,
		EventTurnFinalized, EventTurnFailed, EventTurnIndexed, EventStepStarted, EventStepEnded,
		EventStateCommitted, EventPinAdded, EventPinEdited, EventPinRemoved, EventPinsMoved, EventSummaryCreated,
		EventSummarySuperseded, EventChunkSummarized, EventFileAdded, EventFileRemoved, EventToolBatchStarted,
		EventToolResultRecorded, EventToolBatchCommitted, EventToolBatchAbandoned, EventTagAdded, EventTagRemoved,
		EventCalibrationSet, EventRetrievalRecorded, EventContentErased,
	} {
		set[t] = true
	}
	return set
}()

// payloadVersion is the version of the payloads below.
const payloadVersion = 1

// envelope is the canonical form of a payload: compact JSON, members in the
// order of the Go type, HTML characters unescaped (chat.MarshalJSON).
type envelope struct {
	Version int `json:"v"`
	Data    any `json:"data"`
}

// The payloads. Messages, items and usage stand in them as raw JSON, byte for
// byte what the derived table holds; long request and response bytes stay in
// their step and are here by hash.
type (
	sessionCreated struct {
		Title        string        `json:"title"`
		SystemPrompt string        `json:"system_prompt"`
		Source       string        `json:"source"`
		ActiveBranch chat.BranchID `json:"active_branch"`
	}
	textChanged struct {
		Text string `json:"text"`
	}
	settingsChanged struct {
		SystemPrompt string   `json:"system_prompt"`
		Temperature  *float64 `json:"temperature"`
		Effort       string   `json:"effort"`
	}
	flagChanged struct {
		On bool `json:"on"`
	}
	branchCreated struct {
		Label        string        `json:"label"`
		ParentBranch chat.BranchID `json:"parent_branch"`
		ForkTurn     chat.TurnID   `json:"fork_turn"`
		ForkSeq      int64         `json:"fork_seq"`
		BaseState    chat.StateID  `json:"base_state"`
		BaseSeq      int64         `json:"base_seq"`
	}
	turnAccepted struct {
		BranchID    chat.BranchID   `json:"branch_id"`
		Seq         int64           `json:"turn_seq"`
		StateBefore chat.StateID    `json:"state_before"`
		User        json.RawMessage `json:"user_message"`
		Provider    string          `json:"provider"`
		Model       string          `json:"model"`
		RetryOf     chat.TurnID     `json:"retry_of"`
	}
	turnPrepared struct {
		ManifestSHA256  string `json:"manifest_sha256"`
		Tokens          int    `json:"tokens"`
		RetrievedSHA256 string `json:"retrieved_sha256,omitempty"` // of what memory it holds; empty: none
	}
	turnFinalized struct {
		Outcome   chat.Outcome    `json:"outcome"`
		Assistant json.RawMessage `json:"assistant_message"`
		Usage     *chat.Usage     `json:"usage"`
	}
	turnEnded struct { // interrupted or failed
		Outcome chat.Outcome  `json:"outcome"`
		Failure *chat.Failure `json:"error"`
		Usage   *chat.Usage   `json:"usage"`
	}
	turnIndexed struct {
		Status  chat.IndexStatus `json:"status"` // empty: stored, its vectors to come
		Chunks  []indexedChunk   `json:"chunks"`
		Dropped bool             `json:"dropped,omitempty"` // units of earlier chunkers; without chunks, all units
	}
	indexedChunk struct {
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
		Units   []indexedUnit  `json:"units"`
	}
	indexedUnit struct {
		ID     chat.UnitID `json:"unit_id"`
		Start  int         `json:"start"`
		End    int         `json:"end"`
		Tokens int         `json:"tokens"`
		Text   string      `json:"text"`                  // of a document's: what stands before the words
		SHA256 string      `json:"text_sha256,omitempty"` // of all of it, where text is not that
	}
	stepStarted struct {
		TurnID        chat.TurnID `json:"turn_id"`
		Index         int         `json:"step_index"`
		Attempt       int         `json:"attempt"`
		Provider      string      `json:"provider"`
		ModelID       string      `json:"model_id"`
		StreamPath    string      `json:"stream_path"`
		RequestSHA256 string      `json:"request_sha256"`
		RequestBytes  int         `json:"request_bytes"`
	}
	stepEnded struct {
		TurnID         chat.TurnID      `json:"turn_id"`
		Outcome        chat.StepOutcome `json:"outcome"`
		Items          json.RawMessage  `json:"normalized_items"`
		Usage          *chat.Usage      `json:"usage"`
		DisplayedBytes int64            `json:"stream_displayed_bytes"`
		DurableBytes   int64            `json:"stream_durable_bytes"`
		ResponseSHA256 string           `json:"response_sha256,omitempty"`
		EventsSHA256   string           `json:"raw_events_sha256,omitempty"`
	}
	stateCommitted struct {
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
	summaryCreated struct {
		BranchID       chat.BranchID `json:"branch_id"`
		From           int64         `json:"from_seq"`
		To             int64         `json:"to_seq"`
		Content        string        `json:"content"`
		Tokens         int           `json:"token_count"`
		OriginalTokens int           `json:"original_tokens"`
		GeneratedBy    string        `json:"generated_by"`
	}
	summarySuperseded struct {
		By string `json:"superseded_by"`
	}
	calibrationSet struct {
		Provider string  `json:"provider"`
		ModelID  string  `json:"model_id"`
		Factor   float64 `json:"factor"`
		Samples  int     `json:"samples"`
		Revision int64   `json:"revision"` // counts the changes of this model's factor
	}
	pinChanged struct {
		BranchID  chat.BranchID `json:"branch_id"`
		AfterTurn int64         `json:"after_turn_seq"`
		Replaces  chat.PinID    `json:"replaces"`
		Text      string        `json:"text"`
		Tokens    int           `json:"tokens"`
	}
	pinsMoved struct {
		BranchID  chat.BranchID `json:"branch_id"`
		AfterTurn int64         `json:"after_turn_seq"`
		Pins      []chat.PinID  `json:"pins"`
	}
)

type eventRow struct {
	SessionID   string
	EventSeq    int64
	Type        string
	EntityID    string
	CreatedAt   string
	PayloadHash []byte
	PrevHash    []byte
	Hash        []byte
	Payload     []byte
}

func (eventRow) TableName() string { return "events" }

// ledgerTail is the end of a session's ledger.
type ledgerTail struct {
	EventSeq int64
	Hash     []byte
}

// genesis stands for the hash before a ledger's first event.
var genesis = make([]byte, 32)

// eventHash chains an event to the one before it. It is the SHA-256 of these
// lines, each ended by a newline: the word contextinfinity.event.1, session id,
// event_seq in decimal, type, entity id, created_at, payload_hash in hex, the
// previous event's hash in hex (64 zeros before the first).
//
// payload_hash is the SHA-256 of the payload's canonical JSON before packing, so
// a payload can be erased under a receipt without breaking the chain.
func eventHash(e eventRow) []byte {
	var b []byte
	for _, line := range []string{
		"contextinfinity.event.1", e.SessionID, strconv.FormatInt(e.EventSeq, 10), e.Type, e.EntityID, e.CreatedAt,
		hex.EncodeToString(e.PayloadHash), hex.EncodeToString(e.PrevHash),
	} {
		b = append(append(b, line...), '\n')
	}
	return hashBytes(b)
}

// event appends to the session's ledger, in the transaction of the change.
func (t *tx) event(session chat.SessionID, kind EventType, entity string, data any) error {
	return t.eventOn(rested{}, session, kind, entity, data)
}

// eventOn is event with a payload that repeats much of an earlier one.
func (t *tx) eventOn(base rested, session chat.SessionID, kind EventType, entity string, data any) error {
	payload, err := chat.MarshalJSON(envelope{payloadVersion, data})
	if err != nil {
		return fmt.Errorf("encoding %s event: %w", kind, err)
	}
	tail, err := t.tail(session)
	if err != nil {
		return err
	}
	packed := base.on(payload)
	if packed == nil {
		packed = pack(payload)
	}
	row := eventRow{
		SessionID: string(session), EventSeq: tail.EventSeq + 1, Type: string(kind), EntityID: entity,
		CreatedAt: t.stamp(), PayloadHash: hashBytes(payload), PrevHash: tail.Hash, Payload: packed,
	}
	row.Hash = eventHash(row)
	if err := t.db.Create(&row).Error; err != nil {
		return err
	}
	t.tails[session] = ledgerTail{row.EventSeq, row.Hash}
	return nil
}

func (t *tx) tail(session chat.SessionID) (ledgerTail, error) {
	if tail, ok := t.tails[session]; ok {
		return tail, nil
	}
	rows, err := all[ledgerTail](t.db, `SELECT event_seq, hash FROM events WHERE session_id = ? ORDER BY event_seq DESC LIMIT 1`, session)
	if err != nil || len(rows) == 0 {
		return ledgerTail{Hash: genesis}, err
	}
	return rows[0], nil
}

func hexHash(b []byte) string { return hex.EncodeToString(hashBytes(b)) }
