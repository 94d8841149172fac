package verify

import (
	"bytes"
	"encoding/json"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/delta"
	"contextinfinity/backend/store/records"
	"contextinfinity/backend/store/schema"
)

// Each table of the transcript is checked on its own and against the replay.

func (a *Audit) sessions() {
	each(a, "sessions", "*", "id", func(r schema.SessionRow) {
		a.times("sessions", r.ID, &r.CreatedAt, &r.UpdatedAt, r.ArchivedAt)
		a.Have.Sessions[r.ID] = r.ToLedgerRecord()
	})
}

func (a *Audit) branches() {
	each(a, "branches", "*", "id", func(r schema.BranchRow) {
		a.times("branches", r.ID, &r.CreatedAt, r.ArchivedAt)
		a.Have.Branches[r.ID] = r.ToLedgerRecord()
	})
}

func (a *Audit) states() {
	each(a, "states", "*", "id", func(r schema.StateRow) {
		a.times("states", r.ID, &r.CreatedAt)
		a.expect(r.SessionID == a.session, FindReplay, "states", r.ID, "It does not belong to the session of its branch.")
		a.expect(r.SchemaVersion == schema.StateSchema, FindContent, "states", r.ID, "It has an unknown form.")
		a.expect(r.SummaryZ == nil || r.Summary == "", FindContent, "states", r.ID, "It has two summaries.")
		if err := a.summaryOf(&r); err != nil {
			a.add(FindContent, "states", r.ID, "Its summary cannot be read.")
			a.exclude("states", r.ID)
			return
		}
		a.expect(bytes.Equal(r.ContentHash, r.Hash()), FindContent, "states", r.ID, "Its text does not match its hash.")
		a.expect(r.ValidationJSON == nil || json.Valid([]byte(*r.ValidationJSON)), FindContent, "states", r.ID, "Its validation cannot be read.")
		a.Have.States[r.ID] = r.ToLedgerRecord()
	})
}

// summaryOf decodes a state's summary; recent ones are cached for the states based on them.
func (a *Audit) summaryOf(r *schema.StateRow) error {
	if base, ok := a.decoded.Get(schema.Text(r.ParentID)); ok && r.SummaryZ != nil {
		value, err := codec.UnpackOn(base, r.SummaryZ)
		r.Summary = string(value)
		if err != nil {
			return err
		}
	} else if err := r.Unpack(a.DB); err != nil {
		return err
	}
	a.decoded.Put(r.ID, []byte(r.Summary))
	return nil
}

// auditedTurn is a turn with its manifest.
type auditedTurn struct {
	Row      schema.TurnRow `gorm:"embedded"`
	Manifest []byte
}

func (a *Audit) turns() {
	manifests := a.chain(delta.ManifestChain)
	each(a, "turns", "*", "id", func(t auditedTurn) {
		r := t.Row
		a.times("turns", r.ID, &r.CreatedAt, &r.UpdatedAt)
		a.turnContent(r)
		a.turnPhase(r)
		manifest, err := manifests.decode(a, r.ID, t.Manifest)
		a.expect(err == nil, FindContent, "turns", r.ID, "Its manifest cannot be read.")
		a.Have.Turns[r.ID] = r.ToLedgerRecord(manifest)
	})
}

func (a *Audit) turnContent(r schema.TurnRow) {
	a.message(r.ID, "The user's message", chat.RoleUser, &r.UserMessageJSON, r.UserHash)
	a.message(r.ID, "The answer", chat.RoleAssistant, r.FinalAssistantMessageJSON, r.AssistantHash)
	_, err := schema.DecodeOptional[chat.Usage](r.UsageJSON)
	a.expect(err == nil, FindContent, "turns", r.ID, "Its usage cannot be read.")
	_, err = schema.DecodeOptional[chat.Failure](r.ErrorJSON)
	a.expect(err == nil, FindContent, "turns", r.ID, "Its failure cannot be read.")
}

func (a *Audit) message(turn, part string, role chat.Role, stored *string, hash []byte) {
	if stored == nil {
		a.expect(hash == nil, FindContent, "turns", turn, "%s is gone.", part)
		return
	}
	a.expect(bytes.Equal(codec.Hash([]byte(*stored)), hash), FindContent, "turns", turn, "%s does not match its hash.", part)
	_, err := schema.DecodeMessage(role, *stored)
	a.expect(err == nil, FindContent, "turns", turn, "%s cannot be read.", part)
}

// turnPhase checks that a turn has the content that its phase requires (SPEC 4).
func (a *Audit) turnPhase(r schema.TurnRow) {
	phase, outcome := chat.Phase(r.Phase), chat.Outcome(r.Outcome)
	bad := func(format string, args ...any) { a.add(findPhase, "turns", r.ID, format, args...) }
	final := phase.Finalized()
	if final != (r.FinalAssistantMessageJSON != nil) {
		bad("It is %s, which does not fit whether it has an answer.", phase)
	}
	if final != records.FinalOutcomes[outcome] {
		bad("It is %s with outcome %q.", phase, outcome)
	}
	if committed := final && phase != chat.PhaseResponseFinalized; committed != (r.StateAfter != nil) {
		bad("It is %s, which does not fit whether a state summary covers it.", phase)
	}
	if failed := outcome == chat.OutcomeFailed || outcome == chat.OutcomeDiscarded; failed != (phase == chat.PhaseFailed) {
		bad("It is %s with outcome %q.", phase, outcome)
	}
	if outcome == chat.OutcomeIncomplete && phase != chat.PhaseResponding {
		bad("It is %s, but its outcome is incomplete.", phase)
	}
	status := chat.IndexStatus(r.IndexStatus)
	indexed := phase == chat.PhaseIndexed || phase == chat.PhaseDone
	if indexed != (status == chat.IndexOK || status == chat.IndexSkipped) {
		bad("It is %s with index %q.", phase, status)
	}
}

func (a *Audit) steps() {
	phase := func(turn string) chat.Phase {
		if t := a.Have.Turns[turn]; t != nil {
			return chat.Phase(t.Phase)
		}
		return ""
	}
	type place struct {
		turn  string
		index int
	}
	attempts := map[place]int{}
	requests := a.chain(delta.RequestChain)
	each(a, "steps", schema.StepColumns+", request_json, response_json, raw_events", "turn_id, step_index, attempt", func(r schema.StepRow) {
		at := place{r.TurnID, r.StepIndex}
		attempts[at]++
		a.expect(r.Attempt == attempts[at], findSequence, "steps", r.ID, "It is attempt %d where %d was expected.", r.Attempt, attempts[at])
		attempts[at] = r.Attempt
		a.expect(chat.StepStatus(r.Status) != chat.StepRunning || phase(r.TurnID) == chat.PhaseResponding,
			findPhase, "steps", r.ID, "It is open in a turn that is %s.", phase(r.TurnID))
		a.times("steps", r.ID, &r.StartedAt, r.EndedAt)
		a.step(r, requests)
	})
}

func (a *Audit) step(r schema.StepRow, requests *chainAudit) {
	items, err := r.Items()
	if err == nil {
		_, err = chat.DecodeItems(items)
	}
	head := r
	head.NormalizedItemsJSON, head.ItemsZ = "", nil
	a.expect(err == nil && head.Step().Outcome.Code != chat.CodeCorrupt, FindContent, "steps", r.ID, "Its outcome, items or usage cannot be read.")
	request, err := requests.decode(a, r.ID, r.RequestJSON)
	a.expect(err == nil, FindContent, "steps", r.ID, "Its request cannot be read.")
	response, rerr := codec.Unpack(r.ResponseJSON)
	a.expect(rerr == nil, FindContent, "steps", r.ID, "Its response cannot be read.")
	events, eerr := r.EventsSum()
	a.expect(eerr == nil, FindContent, "steps", r.ID, "Its raw events cannot be read.")
	a.Have.Steps[r.ID] = r.ToLedgerRecord(items, request, response, events)
}

func (a *Audit) pins() {
	each(a, "pins", "*", "id", func(r schema.PinRow) {
		a.times("pins", r.ID, &r.CreatedAt)
		a.expect(bytes.Equal(r.ContentHash, codec.Hash([]byte(r.Text))), FindContent, "pins", r.ID, "Its text does not match its hash.")
		a.Have.Pins[r.ID] = r.ToLedgerRecord()
	})
	each(a, "pin_orders", "*", "id", func(r schema.PinOrderRow) {
		a.times("pin_orders", r.ID, &r.CreatedAt)
		a.Have.PinOrders[r.ID] = &ledger.PinOrder{BranchID: r.BranchID, AfterTurn: r.AfterTurnSeq, CreatedAt: r.CreatedAt, Pins: ledger.SumOfText(r.PinsJSON)}
	})
}

func (a *Audit) drafts() {
	each(a, "drafts", "*", "branch_id", func(r records.DraftRow) {
		_, err := r.Draft()
		a.expect(err == nil, FindContent, "drafts", r.BranchID, "It cannot be read.")
	})
	each(a, "queued_messages", "*", "id", func(r records.QueuedRow) {
		_, err := r.Queued()
		a.expect(err == nil, FindContent, "queued_messages", r.ID, "It cannot be read.")
	})
}
