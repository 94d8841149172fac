package store

import (
	"slices"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/transfer/bundle"
)

// replayer makes a session's records of its events, as ledger.State does by ids and
// hashes, and keeps the events as they are. What it makes is compared with that state
// before it is committed: nothing here needs to distrust a payload.
type replayer struct {
	*tx
	session  string
	contents []bundle.Content // of the event at hand
	ended    *lastStep        // the step whose end came last, until it is known what followed
	sources  map[sourceOf]chunkSource
	sourceOf string // the turn that sources are of
}

// play makes what an event tells, at the moment of the event.
func (p *replayer) play(e ledger.Event, contents []bundle.Content) error {
	p.now, p.contents = moment(e.CreatedAt), contents
	if err := p.settleStep(e); err != nil {
		return err
	}
	do := p.applier(e.Type)
	if do != nil {
		if err := do(e); err != nil {
			return err
		}
	}
	return p.keep(e)
}

// applier is what makes the records of a type of event; nil where it changes none.
func (p *replayer) applier(t ledger.Type) func(ledger.Event) error {
	switch t {
	case ledger.EventSessionCreated:
		return playing(p.sessionCreated)
	case ledger.EventSessionRenamed, ledger.EventSessionPrompt, ledger.EventSessionModel, ledger.EventSessionFolder, ledger.EventBranchSwitched:
		return playing(p.sessionText)
	case ledger.EventSessionArchived, ledger.EventSessionPinned, ledger.EventBranchArchived:
		return playing(p.flagged)
	case ledger.EventSessionSettings:
		return playing(p.sessionSettings)
	case ledger.EventSessionImported:
		return playing(p.sessionImported)
	case ledger.EventBranchCreated:
		return playing(p.branchCreated)
	case ledger.EventBranchRenamed:
		return playing(p.branchRenamed)
	case ledger.EventStateCommitted:
		return playing(p.stateCommitted)
	case ledger.EventPinAdded, ledger.EventPinEdited, ledger.EventPinRemoved:
		return playing(p.pinChanged)
	case ledger.EventPinsMoved:
		return playing(p.pinsMoved)
	case ledger.EventSummaryCreated:
		return playing(p.summaryCreated)
	case ledger.EventSummarySuperseded:
		return playing(p.summarySuperseded)
	case ledger.EventCalibrationSet:
		return playing(p.calibrationSet)
	case ledger.EventFileAdded:
		return playing(p.fileAdded)
	case ledger.EventContentErased:
		return playing(p.contentErased)
	}
	return p.turnApplier(t)
}

// playing decodes a payload for what makes the records of it.
func playing[P any](do func(ledger.Event, P) error) func(ledger.Event) error {
	return func(e ledger.Event) error {
		_, err := payloadOf(e, func(e ledger.Event, data P) (struct{}, error) { return struct{}{}, do(e, data) })
		return err
	}
}

// keep stores an event as it is, its payload packed as eventOn packs it.
func (p *replayer) keep(e ledger.Event) error {
	base, err := p.restsOn(e)
	if err != nil {
		return err
	}
	packed := base.on(e.Payload)
	if packed == nil {
		packed = pack(e.Payload)
	}
	return p.db.Create(&eventRow{
		SessionID: e.SessionID, EventSeq: e.Seq, Type: string(e.Type), EntityID: e.Entity, CreatedAt: e.CreatedAt,
		PayloadHash: e.PayloadHash, PrevHash: e.PrevHash, Hash: e.Hash, Payload: packed,
	}).Error
}

// restsOn is the earlier event whose payload this one repeats.
func (p *replayer) restsOn(e ledger.Event) (rested, error) {
	if len(e.Payload) < linkMin {
		return rested{}, nil
	}
	session := chat.SessionID(p.session)
	switch e.Type {
	case ledger.EventTurnFinalized:
		steps, err := all[string](p.db, `SELECT id FROM steps WHERE turn_id = ? ORDER BY step_index DESC, attempt DESC LIMIT 1`, e.Entity)
		if err != nil || len(steps) == 0 {
			return rested{}, err
		}
		return p.payloadOf(session, ledger.EventStepEnded, steps[0])
	case ledger.EventTurnIndexed:
		return p.payloadOf(session, ledger.EventTurnFinalized, e.Entity)
	case ledger.EventStateCommitted:
		return payloadOf(e, func(_ ledger.Event, s ledger.StateCommitted) (rested, error) {
			return p.payloadOf(session, ledger.EventStateCommitted, string(s.ParentID))
		})
	}
	return rested{}, nil
}

// set changes records; one that is not there is an error.
func (p *replayer) set(query string, args ...any) error {
	n, err := p.exec(query, args...)
	if err == nil && n == 0 {
		err = invalid("What it changes is not there.")
	}
	return err
}

func (p *replayer) sessionCreated(e ledger.Event, d ledger.SessionCreated) error {
	return p.db.Create(&sessionRow{
		ID: e.Entity, CreatedAt: e.CreatedAt, UpdatedAt: e.CreatedAt, Source: d.Source, ActiveBranch: string(d.ActiveBranch),
		Title: d.Title, SystemPrompt: d.SystemPrompt,
	}).Error
}

// sessionColumns are where the texts of a session stand.
var sessionColumns = map[ledger.Type]string{
	ledger.EventSessionRenamed: "title", ledger.EventSessionPrompt: "system_prompt", ledger.EventSessionModel: "model",
	ledger.EventSessionFolder: "folder", ledger.EventBranchSwitched: "active_branch",
}

func (p *replayer) sessionText(e ledger.Event, d ledger.TextChanged) error {
	return p.set(`UPDATE sessions SET `+sessionColumns[e.Type]+` = ? WHERE id = ?`, d.Text, e.Entity)
}

func (p *replayer) flagged(e ledger.Event, d ledger.FlagChanged) error {
	switch e.Type {
	case ledger.EventSessionPinned:
		return p.set(`UPDATE sessions SET pinned = ? WHERE id = ?`, d.On, e.Entity)
	case ledger.EventBranchArchived:
		return p.set(`UPDATE branches SET archived_at = ? WHERE id = ?`, archivedAt(p.tx, d.On), e.Entity)
	}
	return p.set(`UPDATE sessions SET archived_at = ? WHERE id = ?`, archivedAt(p.tx, d.On), e.Entity)
}

func (p *replayer) sessionSettings(e ledger.Event, d ledger.SettingsChanged) error {
	return p.set(`UPDATE sessions SET system_prompt = ?, temperature = ?, effort = ? WHERE id = ?`, d.SystemPrompt, d.Temperature, d.Effort, e.Entity)
}

// sessionImported puts the session where it stands in the list. The keys by which its
// turns are known to an import of the same export do not travel: a stranger's could keep
// such an import from bringing in what is not here.
func (p *replayer) sessionImported(e ledger.Event, d ledger.SessionImported) error {
	return p.set(`UPDATE sessions SET updated_at = ? WHERE id = ?`, d.UpdatedAt, e.Entity)
}

func (p *replayer) branchCreated(e ledger.Event, d ledger.BranchCreated) error {
	return p.db.Create(&branchRow{
		ID: e.Entity, SessionID: p.session, CreatedAt: e.CreatedAt, Label: d.Label, ParentBranch: orNull(d.ParentBranch),
		ForkTurn: orNull(d.ForkTurn), ForkSeq: d.ForkSeq, BaseState: string(d.BaseState), BaseSeq: d.BaseSeq,
		HeadState: string(d.BaseState), HeadSeq: d.BaseSeq,
	}).Error
}

func (p *replayer) branchRenamed(e ledger.Event, d ledger.TextChanged) error {
	return p.set(`UPDATE branches SET label = ? WHERE id = ?`, d.Text, e.Entity)
}

func (p *replayer) stateCommitted(e ledger.Event, d ledger.StateCommitted) error {
	st := stateRow{
		ID: e.Entity, SessionID: p.session, BranchID: string(d.BranchID), StateSeq: d.Seq, ParentID: orNull(d.ParentID), CoversSeq: d.CoversSeq,
		Origin: string(d.Origin), Model: d.Model, TokenCountEst: d.Tokens, SchemaVersion: stateSchema, CreatedAt: e.CreatedAt,
		PinnedFacts: d.PinnedFacts, Summary: d.Summary,
	}
	if len(d.Validation) > 0 && string(d.Validation) != "null" {
		st.ValidationJSON = orNull(string(d.Validation))
	}
	st.ContentHash = st.hash()
	row, err := st.packed(p.tx)
	if err != nil {
		return err
	}
	if err := p.db.Create(&row).Error; err != nil {
		return err
	}
	for _, turn := range d.Turns {
		if err := p.set(`UPDATE turns SET phase = 'StateCommitted', state_after = ?, updated_at = ? WHERE id = ? AND session_id = ?`,
			st.ID, e.CreatedAt, turn, p.session); err != nil {
			return err
		}
	}
	return p.set(`UPDATE branches SET head_state = ?, head_seq = ?, epoch = ? WHERE id = ? AND session_id = ?`, st.ID, d.Seq, d.Epoch, d.BranchID, p.session)
}

func (p *replayer) pinChanged(e ledger.Event, d ledger.PinChanged) error {
	return p.db.Create(&pinRow{
		ID: e.Entity, SessionID: p.session, BranchID: string(d.BranchID), AfterTurnSeq: d.AfterTurn, Replaces: orNull(d.Replaces),
		Removed: e.Type == ledger.EventPinRemoved, Tokens: d.Tokens, CreatedAt: e.CreatedAt, ContentHash: hashBytes([]byte(d.Text)), Text: d.Text,
	}).Error
}

func (p *replayer) pinsMoved(e ledger.Event, d ledger.PinsMoved) error {
	order, err := chat.MarshalJSON(d.Pins)
	if err != nil {
		return err
	}
	return p.db.Create(&pinOrderRow{
		ID: e.Entity, SessionID: p.session, BranchID: string(d.BranchID), AfterTurnSeq: d.AfterTurn, CreatedAt: e.CreatedAt, PinsJSON: string(order),
	}).Error
}

func (p *replayer) summaryCreated(e ledger.Event, d ledger.SummaryCreated) error {
	row := rangeSummaryRow{
		ID: e.Entity, SessionID: p.session, BranchID: string(d.BranchID), FromSeq: d.From, ToSeq: d.To, TokenCount: d.Tokens,
		OriginalTokens: d.OriginalTokens, GeneratedBy: d.GeneratedBy, CreatedAt: e.CreatedAt, ContentHash: hashBytes([]byte(d.Content)), Content: d.Content,
	}
	if len(d.Validation) > 0 && string(d.Validation) != "null" {
		row.ValidationJSON = orNull(string(d.Validation))
	}
	return p.db.Create(&row).Error
}

func (p *replayer) summarySuperseded(e ledger.Event, d ledger.SummarySuperseded) error {
	return p.set(`UPDATE summaries SET superseded_by = ? WHERE id = ? AND session_id = ?`, d.By, e.Entity, p.session)
}

// calibrationSet learns what another data directory has learned since: the newest
// revision that any ledger tells is the one that stands.
func (p *replayer) calibrationSet(e ledger.Event, d ledger.CalibrationSet) error {
	if d.Samples < 1 || d.Samples > calibrationSamples || d.Factor != calibrationFactor(d.Factor) || d.Revision < 1 || d.Revision > maxRevision {
		return invalid("It sets a factor that no counting gives.")
	}
	row, err := calibrationOf(p.db, d.Provider, d.ModelID)
	if err != nil || row.Revision >= d.Revision {
		return err
	}
	_, err = p.exec(`INSERT INTO calibrations (provider, model_id, factor, samples, updated_at, mean, revision)
		VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (provider, model_id) DO UPDATE SET factor = excluded.factor,
		samples = excluded.samples, updated_at = excluded.updated_at, mean = excluded.mean, revision = excluded.revision`,
		d.Provider, d.ModelID, d.Factor, d.Samples, e.CreatedAt, d.Factor, d.Revision)
	return err
}

// maxRevision is far beyond what a factor that moves in steps ever reaches.
const maxRevision = 1 << 40

// content is one of the event at hand; nil if it is not there.
func (p *replayer) content(kind bundle.Kind) []byte {
	i := slices.IndexFunc(p.contents, func(c bundle.Content) bool { return c.Kind == kind })
	if i < 0 {
		return nil
	}
	return p.contents[i].Bytes
}

// fileAdded stores a document. Its bytes are in the bundle, or it is none.
func (p *replayer) fileAdded(e ledger.Event, d ledger.FileAdded) error {
	content, words := p.content(bundle.Document), p.content(bundle.Words)
	if content == nil && d.SHA256 != hexHash(nil) {
		return invalid("The document that it tells of is missing.")
	}
	_, err := p.exec(`INSERT INTO files (id, session_id, turn_id, name, media_type, size, created_at, content_hash, tokens, content, text)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, e.Entity, p.session, d.TurnID, d.Name, d.MediaType, d.Size, e.CreatedAt,
		hashBytes(content), d.Tokens, orEmpty(content), orNull(string(words)))
	return err
}

// contentErased keeps the receipt of a hard delete of another data directory, as far as
// it is known: what was erased is in no event before it, nor in any backup here.
func (p *replayer) contentErased(e ledger.Event, d ledger.ContentErased) error {
	if d.Receipt == "" || len(d.Events) == 0 {
		return nil
	}
	if !chat.ValidID(d.Receipt) || !chat.ValidID(e.Entity) {
		return invalid("It names no receipt.")
	}
	turns, err := all[string](p.db, `SELECT id FROM turns WHERE id = ?`, e.Entity)
	if err != nil {
		return err
	}
	kind := chat.EraseSession
	if len(turns) > 0 {
		kind = chat.EraseTurn
	}
	_, err = p.exec(`INSERT OR IGNORE INTO receipts (id, subject, created_at, counts_json, backups_json) VALUES (?, ?, ?, '{"erased":[]}', '[]')`,
		d.Receipt, kind+" "+e.Entity, e.CreatedAt)
	return err
}
