package ledger

// Type names what a ledger event records. The list is closed: it is part of
// the format of bundles and of every later replay.
type Type string

const (
	EventSessionCreated  Type = "session_created"
	EventSessionRenamed  Type = "session_renamed"
	EventSessionArchived Type = "session_archived" // or brought back
	EventSessionPinned   Type = "session_pinned"   // or unpinned
	EventSessionPrompt   Type = "session_prompt_set"
	EventSessionModel    Type = "session_model_set"
	EventSessionSettings Type = "session_settings_set"
	EventSessionFolder   Type = "session_folder_set" // empty: taken out
	EventSessionImported Type = "session_imported"

	EventBranchCreated  Type = "branch_created"
	EventBranchSwitched Type = "branch_switched"
	EventBranchRenamed  Type = "branch_renamed"
	EventBranchArchived Type = "branch_archived" // or brought back

	EventTurnAccepted    Type = "turn_accepted"
	EventTurnPrepared    Type = "turn_prepared"
	EventTurnInterrupted Type = "turn_interrupted"
	EventTurnResumed     Type = "turn_resumed"
	EventTurnFinalized   Type = "turn_finalized"
	EventTurnFailed      Type = "turn_failed"
	EventTurnIndexed     Type = "turn_indexed"

	EventStepStarted Type = "step_started"
	EventStepEnded   Type = "step_ended"

	EventStateCommitted Type = "state_committed"

	EventPinAdded   Type = "pin_added"
	EventPinEdited  Type = "pin_edited"
	EventPinRemoved Type = "pin_removed"
	EventPinsMoved  Type = "pins_moved"

	EventSummaryCreated    Type = "summary_created"
	EventSummarySuperseded Type = "summary_superseded"
	EventChunkSummarized   Type = "chunk_summarized"

	EventFileAdded   Type = "file_added"
	EventFileRemoved Type = "file_removed"

	EventToolBatchStarted   Type = "tool_batch_started"
	EventToolResultRecorded Type = "tool_result_recorded"
	EventToolBatchCommitted Type = "tool_batch_committed"
	EventToolBatchAbandoned Type = "tool_batch_abandoned"

	EventTagAdded   Type = "tag_added"
	EventTagRemoved Type = "tag_removed"

	EventCalibrationSet    Type = "calibration_set"
	EventRetrievalRecorded Type = "retrieval_recorded"
	EventContentErased     Type = "content_erased"
)

// known is the closed list.
var known = func() map[Type]bool {
	set := map[Type]bool{}
	for _, t := range []Type{
		EventSessionCreated, EventSessionRenamed, EventSessionArchived, EventSessionPinned, EventSessionPrompt,
		EventSessionModel, EventSessionSettings, EventSessionFolder, EventSessionImported, EventBranchCreated, EventBranchSwitched, EventBranchRenamed,
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

// Known reports that the list holds a type.
func (t Type) Known() bool { return known[t] }
