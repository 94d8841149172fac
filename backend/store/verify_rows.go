package store

import (
	"bytes"
	"encoding/json"
	"fmt"

	"contextinfinity/backend/chat"
)

// Each table of the transcript is checked by itself and against the replay.

func (a *audit) sessions() {
	each(a, "sessions", "*", "id", func(r sessionRow) {
		a.times("sessions", r.ID, &r.CreatedAt, &r.UpdatedAt, r.ArchivedAt)
		w, ok := a.want.sessions[r.ID]
		if !ok {
			a.add(findReplay, "sessions", r.ID, "The ledger does not know it.")
			return
		}
		a.differs("sessions", r.ID, is("title", r.Title, w.Title), is("active_branch", r.ActiveBranch, w.ActiveBranch),
			is("system_prompt", r.SystemPrompt, w.SystemPrompt), is("model", r.Model, w.Model), is("source", r.Source, w.Source),
			is("pinned", r.Pinned, w.Pinned), is("created_at", r.CreatedAt, w.CreatedAt), is("archived_at", text(r.ArchivedAt), text(w.ArchivedAt)),
			is("temperature", numeral(r.Temperature), numeral(w.Temperature)), is("effort", r.Effort, w.Effort))
	})
}

// numeral is a nullable number in words.
func numeral(n *float64) string {
	if n == nil {
		return "none"
	}
	return fmt.Sprint(*n)
}

func (a *audit) branches() {
	each(a, "branches", "*", "id", func(r branchRow) {
		a.times("branches", r.ID, &r.CreatedAt, r.ArchivedAt)
		w, ok := a.want.branches[r.ID]
		if !ok {
			a.add(findReplay, "branches", r.ID, "The ledger does not know it.")
			return
		}
		a.differs("branches", r.ID, is("session_id", r.SessionID, w.SessionID), is("label", r.Label, w.Label),
			is("parent_branch", text(r.ParentBranch), text(w.ParentBranch)), is("fork_turn", text(r.ForkTurn), text(w.ForkTurn)),
			is("fork_seq", r.ForkSeq, w.ForkSeq), is("base_state", r.BaseState, w.BaseState), is("base_seq", r.BaseSeq, w.BaseSeq),
			is("head_state", r.HeadState, w.HeadState), is("head_seq", r.HeadSeq, w.HeadSeq), is("epoch", r.Epoch, w.Epoch),
			is("created_at", r.CreatedAt, w.CreatedAt), is("archived_at", text(r.ArchivedAt), text(w.ArchivedAt)))
	})
}

func (a *audit) states() {
	each(a, "states", "*", "id", func(r stateRow) {
		a.times("states", r.ID, &r.CreatedAt)
		a.expect(r.SummaryZ == nil || r.Summary == "", findContent, "states", r.ID, "It has two summaries.")
		if err := a.summaryOf(&r); err != nil {
			a.add(findContent, "states", r.ID, "Its summary cannot be read.")
			return
		}
		a.expect(bytes.Equal(r.ContentHash, r.hash()), findContent, "states", r.ID, "Its text does not match its hash.")
		a.expect(r.ValidationJSON == nil || json.Valid([]byte(*r.ValidationJSON)), findContent, "states", r.ID, "Its validation cannot be read.")
		w, ok := a.want.states[r.ID]
		if !ok {
			a.add(findReplay, "states", r.ID, "The ledger does not know it.")
			return
		}
		a.differs("states", r.ID, is("branch_id", r.BranchID, w.BranchID), is("state_seq", r.StateSeq, w.StateSeq),
			is("parent_id", text(r.ParentID), text(w.ParentID)), is("covers_seq", r.CoversSeq, w.CoversSeq),
			is("origin", r.Origin, w.Origin), is("model", r.Model, w.Model), is("token_count_est", r.TokenCountEst, w.TokenCountEst),
			is("created_at", r.CreatedAt, w.CreatedAt), is("content", r.ContentHash, w.ContentHash))
	})
}

// summaryOf decodes a state's summary; those decoded last are kept for the states
// that rest on them.
func (a *audit) summaryOf(r *stateRow) error {
	if base, ok := a.decoded.get(text(r.ParentID)); ok && r.SummaryZ != nil {
		value, err := unpackOn(base, r.SummaryZ)
		r.Summary = string(value)
		if err != nil {
			return err
		}
	} else if err := r.unpack(a.db); err != nil {
		return err
	}
	a.decoded.put(r.ID, []byte(r.Summary))
	return nil
}

// auditedTurn is a turn with its manifest.
type auditedTurn struct {
	Row      turnRow `gorm:"embedded"`
	Manifest []byte
}

func (a *audit) turns() {
	manifests := a.chain(manifestChain)
	each(a, "turns", "*", "id", func(t auditedTurn) {
		r := t.Row
		a.times("turns", r.ID, &r.CreatedAt, &r.UpdatedAt)
		a.turnContent(r)
		a.manifest(r, t.Manifest, manifests)
		a.turnPhase(r)
		w, ok := a.want.turns[r.ID]
		if !ok {
			a.add(findReplay, "turns", r.ID, "The ledger does not know it.")
			return
		}
		a.differs("turns", r.ID, is("branch_id", r.BranchID, w.BranchID), is("session_id", r.SessionID, w.SessionID),
			is("turn_seq", r.TurnSeq, w.TurnSeq), is("state_before", r.StateBefore, w.StateBefore),
			is("state_after", text(r.StateAfter), text(w.StateAfter)), is("phase", r.Phase, w.Phase),
			is("outcome", r.Outcome, w.Outcome), is("index_status", r.IndexStatus, w.IndexStatus),
			is("provider", r.PrimaryProvider, w.PrimaryProvider), is("model", r.PrimaryModel, w.PrimaryModel),
			is("retry_of", text(r.RetryOf), text(w.RetryOf)), is("created_at", r.CreatedAt, w.CreatedAt),
			is("user_message", r.UserHash, w.UserHash), is("assistant_message", r.AssistantHash, w.AssistantHash))
	})
}

func (a *audit) turnContent(r turnRow) {
	a.message(r.ID, "The user's message", chat.RoleUser, &r.UserMessageJSON, r.UserHash)
	a.message(r.ID, "The answer", chat.RoleAssistant, r.FinalAssistantMessageJSON, r.AssistantHash)
	_, err := decodeOptional[chat.Usage](r.UsageJSON)
	a.expect(err == nil, findContent, "turns", r.ID, "Its usage cannot be read.")
	_, err = decodeOptional[chat.Failure](r.ErrorJSON)
	a.expect(err == nil, findContent, "turns", r.ID, "Its failure cannot be read.")
}

func (a *audit) manifest(r turnRow, packed []byte, manifests *chainAudit) {
	manifest, err := manifests.decode(a, r.ID, packed)
	if err != nil {
		a.add(findContent, "turns", r.ID, "Its manifest cannot be read.")
		return
	}
	want, prepared := a.want.manifest[r.ID]
	a.expect(!prepared || want == hexHash(manifest), findContent, "turns", r.ID, "Its manifest is not the one that was assembled.")
}

func (a *audit) message(turn, what string, role chat.Role, stored *string, hash []byte) {
	if stored == nil {
		a.expect(hash == nil, findContent, "turns", turn, "%s is gone.", what)
		return
	}
	a.expect(bytes.Equal(hashBytes([]byte(*stored)), hash), findContent, "turns", turn, "%s does not match its hash.", what)
	_, err := decodeMessage(role, *stored)
	a.expect(err == nil, findContent, "turns", turn, "%s cannot be read.", what)
}

// turnPhase checks that a turn holds what its phase says (SPEC 4).
func (a *audit) turnPhase(r turnRow) {
	phase, outcome := chat.Phase(r.Phase), chat.Outcome(r.Outcome)
	bad := func(format string, args ...any) { a.add(findPhase, "turns", r.ID, format, args...) }
	final := phase.Finalized()
	if final != (r.FinalAssistantMessageJSON != nil) {
		bad("It is %s, which does not fit whether it has an answer.", phase)
	}
	if final != finalOutcomes[outcome] {
		bad("It is %s with outcome %q.", phase, outcome)
	}
	if committed := final && phase != chat.PhaseResponseFinalized; committed != (r.StateAfter != nil) {
		bad("It is %s, which does not fit whether a state covers it.", phase)
	}
	if failed := outcome == chat.OutcomeFailed || outcome == chat.OutcomeDiscarded; failed != (phase == chat.PhaseFailed) {
		bad("It is %s with outcome %q.", phase, outcome)
	}
	if outcome == chat.OutcomeIncomplete && phase != chat.PhaseResponding {
		bad("It is %s and yet incomplete.", phase)
	}
	status := chat.IndexStatus(r.IndexStatus)
	indexed := phase == chat.PhaseIndexed || phase == chat.PhaseDone
	if indexed != (status == chat.IndexOK || status == chat.IndexSkipped) {
		bad("It is %s with index %q.", phase, status)
	}
}

func (a *audit) steps() {
	phases, err := all[struct{ ID, Phase string }](a.db, `SELECT id, phase FROM turns`)
	a.expect(err == nil, findUnreadable, "turns", "", "Phases cannot be read.")
	phase := make(map[string]chat.Phase, len(phases))
	for _, p := range phases {
		phase[p.ID] = chat.Phase(p.Phase)
	}
	type place struct {
		turn  string
		index int
	}
	attempts := map[place]int{}
	requests := a.chain(requestChain)
	each(a, "steps", stepColumns+", request_json, response_json, raw_events", "turn_id, step_index, attempt", func(r stepRow) {
		at := place{r.TurnID, r.StepIndex}
		attempts[at]++
		a.expect(r.Attempt == attempts[at], findSequence, "steps", r.ID, "It is attempt %d where %d was due.", r.Attempt, attempts[at])
		attempts[at] = r.Attempt
		a.expect(chat.StepStatus(r.Status) != chat.StepRunning || phase[r.TurnID] == chat.PhaseResponding,
			findPhase, "steps", r.ID, "It is open in a turn that is %s.", phase[r.TurnID])
		a.times("steps", r.ID, &r.StartedAt, r.EndedAt)
		a.step(r, requests)
	})
}

func (a *audit) step(r stepRow, requests *chainAudit) {
	st := r.step()
	a.expect(st.Outcome.Code != chat.CodeCorrupt, findContent, "steps", r.ID, "Its outcome, items or usage cannot be read.")
	request, err := requests.decode(a, r.ID, r.RequestJSON)
	a.expect(err == nil, findContent, "steps", r.ID, "Its request cannot be read.")
	response, rerr := Unpack(r.ResponseJSON)
	a.expect(rerr == nil, findContent, "steps", r.ID, "Its response cannot be read.")
	events, eerr := r.events()
	a.expect(eerr == nil, findContent, "steps", r.ID, "Its raw events cannot be read.")
	items, _ := r.items() // an error was told with the outcome
	w, ok := a.want.steps[r.ID]
	if !ok {
		a.add(findReplay, "steps", r.ID, "The ledger does not know it.")
		return
	}
	a.differs("steps", r.ID, is("turn_id", r.TurnID, w.TurnID), is("step_index", r.StepIndex, w.StepIndex),
		is("attempt", r.Attempt, w.Attempt), is("status", r.Status, w.Status), is("provider", r.Provider, w.Provider),
		is("model_id", r.ModelID, w.ModelID), is("stream_path", r.StreamPath, w.StreamPath),
		is("displayed", r.StreamDisplayedBytes, w.StreamDisplayedBytes), is("durable", r.StreamDurableBytes, w.StreamDurableBytes),
		is("items", string(items), w.NormalizedItemsJSON), is("request", hexHash(request), w.request),
		is("response", hashIfAny(response), w.response), is("raw_events", hashIfAny(events), w.events))
}

func hashIfAny(b []byte) string {
	if b == nil {
		return ""
	}
	return hexHash(b)
}

func (a *audit) pins() {
	each(a, "pins", "*", "id", func(r pinRow) {
		a.times("pins", r.ID, &r.CreatedAt)
		a.expect(bytes.Equal(r.ContentHash, hashBytes([]byte(r.Text))), findContent, "pins", r.ID, "Its text does not match its hash.")
		w, ok := a.want.pins[r.ID]
		if !ok {
			a.add(findReplay, "pins", r.ID, "The ledger does not know it.")
			return
		}
		a.differs("pins", r.ID, is("branch_id", r.BranchID, w.BranchID), is("after_turn_seq", r.AfterTurnSeq, w.AfterTurnSeq),
			is("replaces", text(r.Replaces), text(w.Replaces)), is("removed", r.Removed, w.Removed), is("tokens", r.Tokens, w.Tokens),
			is("created_at", r.CreatedAt, w.CreatedAt), is("text", r.ContentHash, w.ContentHash))
	})
	each(a, "pin_orders", "*", "id", func(r pinOrderRow) {
		w, ok := a.want.orders[r.ID]
		if !ok {
			a.add(findReplay, "pin_orders", r.ID, "The ledger does not know it.")
			return
		}
		a.differs("pin_orders", r.ID, is("branch_id", r.BranchID, w.BranchID), is("after_turn_seq", r.AfterTurnSeq, w.AfterTurnSeq),
			is("pins", r.PinsJSON, w.PinsJSON), is("created_at", r.CreatedAt, w.CreatedAt))
	})
}

func (a *audit) drafts() {
	each(a, "drafts", "*", "branch_id", func(r draftRow) {
		_, err := r.draft()
		a.expect(err == nil, findContent, "drafts", r.BranchID, "It cannot be read.")
	})
}

// missing reports what the ledger made and the tables do not hold.
func (a *audit) missing() {
	absent(a, "sessions", a.want.sessions)
	absent(a, "branches", a.want.branches)
	absent(a, "states", a.want.states)
	absent(a, "turns", a.want.turns)
	absent(a, "steps", a.want.steps)
	absent(a, "pins", a.want.pins)
	absent(a, "pin_orders", a.want.orders)
	absent(a, "summaries", a.want.summaries)
	absent(a, "chunks", a.want.chunks)
	absent(a, "units", a.want.units)
	absent(a, "files", a.want.files)
}

func absent[R any](a *audit, table string, want map[string]*R) {
	ids, err := all[string](a.db, `SELECT id FROM `+table)
	if err != nil {
		a.add(findUnreadable, table, "", "The table cannot be read.")
		return
	}
	there := make(map[string]bool, len(ids))
	for _, id := range ids {
		there[id] = true
	}
	for id := range want {
		a.expect(there[id], findReplay, table, id, "The ledger tells of it, and it is gone.")
	}
}
