package deletion

import (
	"bytes"
	"errors"
	"slices"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/delta"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// turnDeletion is a permanent deletion of a turn's content.
type turnDeletion struct {
	*Operation
	turns     []schema.TurnRow // the turn, and retries with the same message
	files     []string         // documents used by these turns only
	words     WordSet          // of everything that is deleted
	visibleOn map[string]bool  // branches from which the turn is visible
	// What other devices found, by the type of the event, and the hashes of these events.
	listed      map[ledger.Type][]string
	listedNames map[string]bool
	listedFiles []chat.FileID
	texts       map[string]adopted // what stands there in place of states and summaries, by their ids
	partly      bool               // not all words of the turns are known here any more
}

// turn empties a turn: its messages become [erased], and data derived from it is deleted or loses the lines that
// share its words.
func (e *Operation) turn() error {
	x := &turnDeletion{Operation: e}
	if e.absent {
		return errors.Join(x.listedElsewhere(), x.listedLookups())
	}
	for _, do := range []func() error{
		x.listedElsewhere, x.gather, x.unsent, x.documents, x.contexts, x.lookedUp, x.listedLookups, x.states, x.summaries, x.names, x.memory, x.steps, x.messages, x.programs, x.fence,
	} {
		if err := do(); err != nil {
			return err
		}
	}
	return nil
}

// gather reads the turns and their words before anything is changed.
func (x *turnDeletion) gather() error {
	var err error
	x.turns, err = sqlite.All[schema.TurnRow](x.DB, `WITH RECURSIVE same (id, said) AS (
		  SELECT id, user_hash FROM turns WHERE id = ? OR id IN ? AND session_id = ? UNION
		  SELECT t.id, t.user_hash FROM same JOIN turns t ON t.session_id = ? AND t.user_hash = same.said
		    AND (t.retry_of = same.id OR t.id = (SELECT o.retry_of FROM turns o WHERE o.id = same.id)))
		SELECT t.* FROM same JOIN turns t ON t.id = same.id ORDER BY t.n`,
		x.subject.Subject, append([]string{""}, x.listed[ledger.EventTurnAccepted]...), x.subject.Session, x.subject.Session)
	if err != nil {
		return err
	}
	x.words = WordSet{}
	_, shell, err := schema.EncodeMessage(chat.UserText(DeletedMark))
	if err != nil {
		return err
	}
	for _, t := range x.turns {
		if bytes.Equal(t.UserHash, shell) { // it was deleted before
			x.partly = true
			continue
		}
		x.words.JSON(t.UserMessageJSON)
		x.words.JSON(schema.Text(t.FinalAssistantMessageJSON))
		steps, err := sqlite.All[schema.StepRow](x.DB, `SELECT `+schema.StepColumns+` FROM steps WHERE turn_id = ?`, t.ID)
		if err != nil {
			return err
		}
		for _, s := range steps {
			if items, err := s.Items(); err == nil {
				x.words.JSON(items)
			}
		}
		if err := x.toolWords(t.ID); err != nil {
			return err
		}
	}
	x.visibleOn, err = x.branchesWith(x.subject.Session, x.turns...)
	return err
}

// branchesWith returns the branches of a session with one of the turns in their lineage.
func (e *Operation) branchesWith(session string, turns ...schema.TurnRow) (map[string]bool, error) {
	visibleOn := map[string]bool{}
	branches, err := sqlite.All[string](e.DB, `SELECT id FROM branches WHERE session_id = ? ORDER BY id`, session)
	for _, b := range branches {
		segs, err := core.Segments(e.DB, chat.BranchID(b))
		if err != nil {
			continue // a broken lineage; verify reports it
		}
		for _, t := range turns {
			if slices.ContainsFunc(segs, func(g core.Segment) bool { return g.Branch == t.BranchID && g.From < t.TurnSeq && t.TurnSeq <= g.To }) {
				visibleOn[b] = true
			}
		}
	}
	return visibleOn, err
}

// ids returns the turns' ids.
func (x *turnDeletion) ids() []string {
	return lists.Map(x.turns, func(t schema.TurnRow) string { return t.ID })
}

// documents finds the documents that no other turn uses, and no remaining draft or queued message.
func (x *turnDeletion) documents() error {
	var err error
	x.files, err = sqlite.All[string](x.DB, `SELECT f.id FROM files f WHERE (f.turn_id IN ? OR f.id IN ? AND f.session_id = ?) AND NOT `+core.FileUsed+` ORDER BY f.id`,
		x.ids(), append(x.listedFiles, ""), x.subject.Session, x.ids())
	for _, id := range x.files {
		if words, err := schema.FileText(x.DB, chat.FileID(id)); err == nil {
			x.words.text(words)
		}
		x.deletedFiles = append(x.deletedFiles, chat.FileID(id))
	}
	return err
}

// chunks returns the condition for the chunks to delete, except those of documents that other turns use.
func (x *turnDeletion) chunks() (string, []any) {
	if len(x.files) == 0 {
		return `c.source_turn IN ? AND c.file_id IS NULL`, []any{x.ids()}
	}
	return `c.source_turn IN ? AND (c.file_id IS NULL OR c.file_id IN ?)`, []any{x.ids(), x.files}
}

// contexts drops the requests of every turn with a context that contained the text.
func (x *turnDeletion) contexts() error {
	where, args := x.chunks()
	affected := affectedContexts{ids: schema.SetOf(x.ids()), chunks: where, args: args}
	for _, t := range x.turns {
		affected.seqs = append(affected.seqs, t.TurnSeq)
	}
	states, err := x.affectedStates()
	if err != nil {
		return err
	}
	for _, s := range states {
		affected.ids[s.ID] = true
	}
	ranges, err := x.covering()
	if err != nil {
		return err
	}
	for _, r := range ranges {
		affected.ids[r.ID] = true
	}
	retrievedBy, err := sqlite.All[quotingTurn](x.DB, `SELECT DISTINCT t.id, t.n, t.session_id FROM chunks c JOIN retrieved r ON r.chunk_n = c.n
		JOIN turns t ON t.n = r.turn_n WHERE t.id NOT IN ? AND `+where+` ORDER BY t.n`, append([]any{x.ids()}, args...)...)
	if err != nil {
		return err
	}
	first := x.turns[0]
	list, err := x.following(quotingTurn{first.ID, first.N, first.SessionID}, x.ids(), x.visibleOn, affected)
	if err != nil {
		return err
	}
	listed, err := sqlite.All[quotingTurn](x.DB, `SELECT DISTINCT t.id, t.n, t.session_id FROM steps s JOIN turns t ON t.id = s.turn_id
		WHERE s.id IN ? AND t.id NOT IN ? ORDER BY t.n`, append([]string{""}, x.listed[ledger.EventStepStarted]...), x.ids())
	if err != nil {
		return err
	}
	for _, r := range append(retrievedBy, listed...) {
		if !slices.ContainsFunc(list, func(q quotingTurn) bool { return q.ID == r.ID }) {
			list = append(list, r)
		}
	}
	return x.dropAffected(list, affected)
}

// following returns the later turns of the session, except some, on the branches that show the turn and with a context
// that contained deleted content. If several contexts were assembled for a turn, only the last is described, so such a
// turn always counts.
func (e *Operation) following(first quotingTurn, except []string, visibleOn map[string]bool, affected affectedContexts) ([]quotingTurn, error) {
	turns, err := sqlite.All[struct {
		Quoted quotingTurn `gorm:"embedded"`
		Times  int
		Branch string
	}](e.DB, `SELECT t.id, t.n, t.session_id, t.branch_id AS branch,
		  (SELECT count(*) FROM events v WHERE v.entity_id = t.id AND v.type = 'turn_prepared') AS times
		FROM turns t WHERE t.session_id = ? AND t.n > ? AND t.id NOT IN ?
		AND (t.manifest IS NOT NULL OR EXISTS (SELECT 1 FROM steps s WHERE s.turn_id = t.id)) ORDER BY t.n`,
		first.SessionID, first.N, except)
	if err != nil {
		return nil, err
	}
	var out []quotingTurn
	var cache core.RecentValues
	for _, t := range turns {
		if !visibleOn[t.Branch] {
			continue
		}
		manifest, err := delta.ManifestChain.Read(e.DB, t.Quoted.ID, &cache)
		if err == nil && manifest != nil {
			cache.Put(t.Quoted.ID, manifest)
		}
		if err != nil || manifest == nil || t.Times > 1 || affected.matches(manifest) {
			out = append(out, t.Quoted)
		}
	}
	return out, nil
}

// memory deletes chunks, units, their text index entries, vectors and documents.
func (x *turnDeletion) memory() error {
	where, args := x.chunks()
	units := `chunk_id IN (SELECT c.id FROM chunks c WHERE ` + where + `)`
	if err := x.remove("unit_embeddings", `DELETE FROM unit_embeddings WHERE unit_n IN (SELECT n FROM units WHERE `+units+`)`, args...); err != nil {
		return err
	}
	if err := x.remove("units", `DELETE FROM units WHERE `+units, args...); err != nil {
		return err
	}
	for _, t := range x.turns {
		if err := reword(x.Operation, chat.SessionID(t.SessionID), t.ID, []ledger.Type{ledger.EventTurnIndexed}, func(p *ledger.TurnIndexed) {
			p.Chunks = slices.DeleteFunc(p.Chunks, func(c ledger.IndexedChunk) bool {
				return c.File == "" || slices.Contains(x.files, string(c.File))
			})
			if len(p.Chunks) == 0 { // without chunks the condition would match those that stay
				p.Chunks, p.Dropped = nil, false
			}
		}); err != nil {
			return err
		}
	}
	if err := x.remove("retrieved", `DELETE FROM retrieved WHERE turn_n IN (SELECT n FROM turns WHERE id IN ?)`, x.ids()); err != nil {
		return err
	}
	if err := x.remove("pin_suggestions", `DELETE FROM pin_suggestions WHERE turn_id IN ?`, x.ids()); err != nil {
		return err
	}
	of := `DELETE FROM chunk_summaries WHERE chunk_id IN (SELECT c.id FROM chunks c WHERE ` + where + `)`
	if err := x.remove("chunk_summaries", of, args...); err != nil {
		return err
	}
	if err := x.remove("chunks", `DELETE FROM chunks AS c WHERE `+where, args...); err != nil || len(x.files) == 0 {
		return err
	}
	for _, id := range x.files {
		if err := reword(x.Operation, chat.SessionID(x.subject.Session), id, []ledger.Type{ledger.EventFileAdded}, func(p *ledger.FileAdded) {
			*p = ledger.FileAdded{TurnID: p.TurnID}
		}); err != nil {
			return err
		}
	}
	return x.remove("files", `DELETE FROM files WHERE id IN ?`, x.files)
}

// steps empties the model calls of the turn: requests and responses.
func (x *turnDeletion) steps() error {
	if err := x.journals(`SELECT id FROM turns WHERE id IN ?`, x.ids()); err != nil {
		return err
	}
	rows, err := sqlite.All[schema.StepRow](x.DB, `SELECT `+schema.StepColumns+` FROM steps WHERE turn_id IN ? ORDER BY id`, x.ids())
	if err != nil {
		return err
	}
	requests := map[string][]byte{}
	for _, r := range rows {
		if err := x.step(r); err != nil {
			return err
		}
		requests[r.ID] = x.requestMark()
	}
	if err := x.tools(); err != nil {
		return err
	}
	if err := x.remove("turn_tokens", `DELETE FROM turn_tokens WHERE turn_id IN ?`, x.ids()); err != nil {
		return err
	}
	x.counts["requests"] += int64(len(requests))
	return x.replace(delta.RequestChain, requests)
}

func (x *turnDeletion) step(r schema.StepRow) error {
	session := chat.SessionID(x.subject.Session)
	outcome := r.Step().Outcome
	if outcome.Code == chat.CodeCorrupt {
		outcome.Code = chat.CodeInternal
	}
	if outcome.Message != "" {
		outcome.Message = DeletedMark
	}
	encoded, err := chat.MarshalJSON(outcome)
	if err != nil {
		return err
	}
	if r.Status == string(chat.StepRunning) {
		encoded = []byte(r.OutcomeJSON)
	}
	if err := x.remove("steps", `UPDATE steps SET outcome_json = ?, normalized_items_json = '[]', items_z = NULL, response_json = NULL,
		raw_events = NULL WHERE id = ?`, string(encoded), r.ID); err != nil {
		return err
	}
	if err := reword(x.Operation, session, r.ID, []ledger.Type{ledger.EventStepStarted}, func(p *ledger.StepStarted) {
		p.RequestSHA256, p.RequestBytes = schema.HexHash(x.requestMark()), len(x.requestMark())
	}); err != nil {
		return err
	}
	return reword(x.Operation, session, r.ID, []ledger.Type{ledger.EventStepEnded}, func(p *ledger.StepEnded) {
		p.Outcome, p.Items, p.ResponseSHA256, p.EventsSHA256 = outcome, []byte("[]"), "", ""
	})
}

// messages empties the turns' messages.
func (x *turnDeletion) messages() error {
	manifests := map[string][]byte{}
	for _, t := range x.turns {
		if err := x.message(t); err != nil {
			return err
		}
		manifests[t.ID] = nil
	}
	// Values packed against their manifests are repacked alone; the manifests are gone.
	return x.replace(delta.ManifestChain, manifests)
}

func (x *turnDeletion) message(t schema.TurnRow) error {
	session := chat.SessionID(t.SessionID)
	user, userHash, err := schema.EncodeMessage(chat.UserText(DeletedMark))
	if err != nil {
		return err
	}
	answer, answerHash, err := schema.EncodeMessage(chat.AssistantText(DeletedMark))
	if err != nil {
		return err
	}
	failure, _ := schema.DecodeOptional[chat.Failure](t.ErrorJSON)
	if failure != nil {
		failure.Forget(DeletedMark)
	}
	encoded, err := schema.EncodeOptional(failure)
	if err != nil {
		return err
	}
	if err := x.remove("turns", `UPDATE turns SET user_message_json = ?, user_hash = ?, error_json = ? WHERE id = ?`,
		user, userHash, encoded, t.ID); err != nil {
		return err
	}
	if t.FinalAssistantMessageJSON != nil {
		if err := x.Run(`UPDATE turns SET final_assistant_message_json = ?, assistant_hash = ? WHERE id = ?`, answer, answerHash, t.ID); err != nil {
			return err
		}
	}
	for _, do := range []func() error{
		func() error {
			return reword(x.Operation, session, t.ID, []ledger.Type{ledger.EventTurnAccepted}, func(p *ledger.TurnAccepted) { p.User = []byte(user) })
		},
		func() error {
			return reword(x.Operation, session, t.ID, []ledger.Type{ledger.EventTurnPrepared}, func(p *ledger.TurnPrepared) {
				p.ManifestSHA256, p.RetrievedSHA256 = "", ""
			})
		},
		func() error {
			return reword(x.Operation, session, t.ID, []ledger.Type{ledger.EventTurnFinalized}, func(p *ledger.TurnFinalized) { p.Assistant = []byte(answer) })
		},
		func() error {
			return reword(x.Operation, session, t.ID, []ledger.Type{ledger.EventTurnInterrupted, ledger.EventTurnFailed}, func(p *ledger.TurnEnded) {
				if p.Failure != nil {
					p.Failure.Forget(DeletedMark)
				}
			})
		},
	} {
		if err := do(); err != nil {
			return err
		}
	}
	return nil
}

// fence revokes the leases of the session's running jobs, because their workers may have read the text: their results
// are refused, and the jobs run again.
func (x *turnDeletion) fence() error {
	err := x.Run(`UPDATE jobs SET state = 'queued', lease_until = NULL, claim = claim + 1, last_error = '', updated_at = ?
		WHERE session_id = ? AND state = 'running'`, x.Stamp(), x.subject.Session)
	if err == nil {
		err = x.Run(`UPDATE jobs SET last_error = '' WHERE session_id = ?`, x.subject.Session)
	}
	return err
}
