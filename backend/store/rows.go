package store

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/sqlite"
)

// The rows of the database as they are stored, and their translation. A row
// that is damaged translates to as much of itself as can be read.

type sessionRow struct {
	ID           string
	CreatedAt    string
	UpdatedAt    string
	ArchivedAt   *string
	Pinned       bool
	Source       string
	ActiveBranch string
	Model        string
	Title        string
	SystemPrompt string
	Temperature  *float64
	Effort       string
	Folder       string
	ToolsMode    string
}

func (sessionRow) TableName() string { return "sessions" }

func (r sessionRow) session() chat.Session {
	return chat.Session{
		ID: chat.SessionID(r.ID), Title: r.Title, ActiveBranch: chat.BranchID(r.ActiveBranch),
		SystemPrompt: r.SystemPrompt, Model: r.Model, Source: r.Source, Pinned: r.Pinned,
		Temperature: r.Temperature, Effort: r.Effort, Folder: r.Folder, ToolsMode: r.ToolsMode,
		CreatedAt: moment(r.CreatedAt), UpdatedAt: moment(r.UpdatedAt), ArchivedAt: momentOrNil(r.ArchivedAt),
	}
}

type branchRow struct {
	ID           string
	SessionID    string
	CreatedAt    string
	ArchivedAt   *string
	ParentBranch *string
	ForkTurn     *string
	ForkSeq      int64
	BaseState    string
	BaseSeq      int64
	HeadState    string
	HeadSeq      int64
	Epoch        int64
	Label        string
}

func (branchRow) TableName() string { return "branches" }

func (r branchRow) branch() chat.Branch {
	return chat.Branch{
		ID: chat.BranchID(r.ID), SessionID: chat.SessionID(r.SessionID), Label: r.Label,
		ParentBranch: chat.BranchID(text(r.ParentBranch)), ForkTurn: chat.TurnID(text(r.ForkTurn)),
		BaseState: chat.StateID(r.BaseState), HeadState: chat.StateID(r.HeadState), HeadSeq: r.HeadSeq,
		Epoch: r.Epoch, CreatedAt: moment(r.CreatedAt), ArchivedAt: momentOrNil(r.ArchivedAt),
	}
}

type stateRow struct {
	ID             string
	SessionID      string
	BranchID       string
	StateSeq       int64
	ParentID       *string
	CoversSeq      int64
	Origin         string
	Model          string
	TokenCountEst  int
	SchemaVersion  int
	CreatedAt      string
	ContentHash    []byte
	ValidationJSON *string
	PinnedFacts    string
	Summary        string
	SummaryZ       []byte // in place of Summary (rests.go)
}

func (stateRow) TableName() string { return "states" }

// stateSchema is the version of a state's form.
const stateSchema = 1

// hash covers what a state says.
func (r stateRow) hash() []byte {
	return codec.Hash([]byte(r.Summary), []byte{0}, []byte(r.PinnedFacts))
}

func (r stateRow) state() chat.State {
	st := chat.State{
		ID: chat.StateID(r.ID), SessionID: chat.SessionID(r.SessionID), BranchID: chat.BranchID(r.BranchID),
		Seq: r.StateSeq, ParentID: chat.StateID(text(r.ParentID)), Summary: r.Summary, PinnedFacts: r.PinnedFacts,
		TokenCount: r.TokenCountEst, Origin: chat.StateOrigin(r.Origin), Model: r.Model,
		SchemaVersion: r.SchemaVersion, CreatedAt: moment(r.CreatedAt),
	}
	if r.ValidationJSON != nil && json.Valid([]byte(*r.ValidationJSON)) {
		st.Validation = json.RawMessage(*r.ValidationJSON)
	}
	return st
}

type turnRow struct {
	ID                        string
	N                         int64 // a small name, given once
	SessionID                 string
	BranchID                  string
	TurnSeq                   int64
	StateBefore               string
	StateAfter                *string
	Phase                     string
	Outcome                   string
	IndexStatus               string
	PrimaryProvider           string
	PrimaryModel              string
	RetryOf                   *string
	CreatedAt                 string
	UpdatedAt                 string
	UserHash                  []byte
	AssistantHash             []byte
	UsageJSON                 *string
	ErrorJSON                 *string
	UserMessageJSON           string
	FinalAssistantMessageJSON *string
}

func (turnRow) TableName() string { return "turns" }

// turn translates the row. What cannot be decoded stands as an Unknown block
// with its raw bytes, and the turn's failure says so (SPEC 2.13).
func (r turnRow) turn() chat.Turn {
	t := chat.Turn{
		ID: chat.TurnID(r.ID), SessionID: chat.SessionID(r.SessionID), BranchID: chat.BranchID(r.BranchID),
		Seq: r.TurnSeq, StateBefore: chat.StateID(r.StateBefore), StateAfter: chat.StateID(text(r.StateAfter)),
		Phase: chat.Phase(r.Phase), Outcome: chat.Outcome(r.Outcome), IndexStatus: chat.IndexStatus(r.IndexStatus),
		Provider: r.PrimaryProvider, Model: r.PrimaryModel, RetryOf: chat.TurnID(text(r.RetryOf)),
		CreatedAt: moment(r.CreatedAt), UpdatedAt: moment(r.UpdatedAt),
	}
	var bad []string
	note := func(what string, err error) {
		if err != nil {
			bad = append(bad, what)
		}
	}
	var err error
	t.User, err = decodeMessage(chat.RoleUser, r.UserMessageJSON)
	note("the user's message", err)
	if r.FinalAssistantMessageJSON != nil {
		m, err := decodeMessage(chat.RoleAssistant, *r.FinalAssistantMessageJSON)
		t.Assistant = &m
		note("the answer", err)
	}
	t.Failure, err = decodeOptional[chat.Failure](r.ErrorJSON)
	note("the failure", err)
	t.Usage, err = decodeOptional[chat.Usage](r.UsageJSON)
	t.Usage = t.Usage.Checked(0)
	note("the usage", err)
	if len(bad) > 0 {
		t.Failure = unreadable("turn", r.ID, bad)
	}
	return t
}

// unreadable is the failure of a record of which a part cannot be read.
func unreadable(what, id string, parts []string) *chat.Failure {
	return &chat.Failure{
		Code:    chat.CodeCorrupt,
		Message: fmt.Sprintf("Of %s %s, %s cannot be read.", what, id, strings.Join(parts, " and ")),
		Hint:    "Everything else is intact; run verify, or look in a backup.",
	}
}

func turnsOf(rows []turnRow) []chat.Turn {
	out := make([]chat.Turn, len(rows))
	for i, r := range rows {
		out[i] = r.turn()
	}
	return out
}

type stepRow struct {
	ID                   string
	TurnID               string
	StepIndex            int
	Attempt              int
	Status               string
	Provider             string
	ModelID              string
	StartedAt            string
	EndedAt              *string
	StreamPath           string
	StreamDisplayedBytes int64
	StreamDurableBytes   int64
	UsageJSON            *string
	OutcomeJSON          string
	NormalizedItemsJSON  string
	ItemsZ               []byte  // in place of NormalizedItemsJSON (rests.go)
	Answer               *string `gorm:"->"` // of the turn, where ItemsZ rests on it
	RequestJSON          []byte
	ResponseJSON         []byte
	RawEvents            []byte
	ToolsMode            string
}

func (stepRow) TableName() string { return "steps" }

// stepColumns is all of a step but its payload, which is read on demand.
const stepColumns = stepHeadColumns + `, ` + itemColumns

// stepHeadColumns is stepColumns without the items, which are as long as the answer.
const stepHeadColumns = `id, turn_id, step_index, attempt, status, provider, model_id, started_at, ended_at, stream_path,
	stream_displayed_bytes, stream_durable_bytes, usage_json, outcome_json, tools_mode`

// itemColumns is what stepRow.items needs.
const itemColumns = `normalized_items_json, items_z, CASE WHEN items_z IS NOT NULL
	THEN (SELECT t.final_assistant_message_json FROM turns t WHERE t.id = steps.turn_id) END AS answer`

func (r stepRow) step() chat.Step {
	st := chat.Step{
		ID: chat.StepID(r.ID), TurnID: chat.TurnID(r.TurnID), Index: r.StepIndex, Attempt: r.Attempt,
		Provider: r.Provider, ModelID: r.ModelID, ToolsMode: r.ToolsMode, StreamPath: r.StreamPath,
		DisplayedBytes: r.StreamDisplayedBytes, DurableBytes: r.StreamDurableBytes,
		StartedAt: moment(r.StartedAt), EndedAt: momentOrNil(r.EndedAt),
	}
	outErr := json.Unmarshal([]byte(r.OutcomeJSON), &st.Outcome)
	var itemErr error
	if r.NormalizedItemsJSON != "" || r.ItemsZ != nil { // else they were not asked for
		var items string
		if items, itemErr = r.items(); itemErr == nil {
			st.Items, itemErr = chat.DecodeItems(items)
		}
	}
	usage, useErr := decodeOptional[chat.Usage](r.UsageJSON)
	st.Usage = usage.Checked(0)
	st.Outcome.Status = chat.StepStatus(r.Status)
	if outErr != nil || itemErr != nil || useErr != nil {
		st.Outcome.Code = chat.CodeCorrupt
		st.Outcome.Message = "A part of step " + r.ID + " cannot be read."
	}
	return st
}

type jobRow struct {
	ID         int64
	JobType    string
	JobKey     string
	SessionID  *string
	BranchID   *string
	TurnID     *string
	State      string
	Attempts   int
	Priority   int
	RunAfter   string
	LeaseUntil *string
	CreatedAt  string
	UpdatedAt  string
	LastError  string
	FromSeq    int64
	Claim      int64
	WaitsFor   *int64 // of lists alone: not a column
}

func (jobRow) TableName() string { return "jobs" }

func (r jobRow) job() chat.Job {
	j := chat.Job{
		ID: r.ID, Type: chat.JobType(r.JobType), SessionID: chat.SessionID(text(r.SessionID)),
		BranchID: chat.BranchID(text(r.BranchID)), TurnID: chat.TurnID(text(r.TurnID)),
		State: chat.JobState(r.State), Attempts: r.Attempts, Priority: r.Priority, FromSeq: r.FromSeq, LastError: r.LastError,
		RunAfter: moment(r.RunAfter), LeaseUntil: momentOrNil(r.LeaseUntil), Claim: r.Claim,
		CreatedAt: moment(r.CreatedAt), UpdatedAt: moment(r.UpdatedAt),
	}
	if r.WaitsFor != nil {
		j.WaitsFor = *r.WaitsFor
	}
	return j
}

// encodeMessage is a message's stored JSON and its content hash.
func encodeMessage(m chat.Message) (string, []byte, error) {
	text, hash, err := encodeText(m)
	if err != nil {
		return "", nil, sqlite.Invalid("The message cannot be stored: %v.", err)
	}
	return text, hash, nil
}

// encodeText is the JSON that v writes, and its hash. A long one takes its own size of
// memory and no more.
func encodeText(v interface{ WriteJSON(io.Writer) error }) (string, []byte, error) {
	var size counter
	if err := v.WriteJSON(&size); err != nil {
		return "", nil, err
	}
	var text strings.Builder
	text.Grow(int(size))
	hash := sha256.New()
	err := v.WriteJSON(io.MultiWriter(hash, &text))
	return text.String(), hash.Sum(nil), err
}

// counter counts what is written to it.
type counter int

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

// decodeMessage reads a stored message. If it cannot, the message holds the raw
// bytes as an Unknown block, which no provider is ever sent.
func decodeMessage(role chat.Role, raw string) (chat.Message, error) {
	m, err := chat.DecodeMessage(raw)
	if err == nil && m.Role != role {
		err = fmt.Errorf("role %q instead of %q", m.Role, role)
	}
	if err != nil {
		return chat.Message{Role: role, Blocks: chat.Blocks{chat.Unknown{Provider: "contextinfinity", Raw: []byte(raw)}}}, err
	}
	return m, nil
}

func decodeOptional[T any](raw *string) (*T, error) {
	if raw == nil {
		return nil, nil
	}
	v := new(T)
	if err := json.Unmarshal([]byte(*raw), v); err != nil {
		return nil, err
	}
	return v, nil
}

// encodeOptional is JSON text, or nil for a nil pointer.
func encodeOptional[T any](v *T) (*string, error) {
	if v == nil {
		return nil, nil
	}
	b, err := chat.MarshalJSON(v)
	if err != nil {
		return nil, err
	}
	s := string(b)
	return &s, nil
}

// clean makes s safe to store as text: valid UTF-8 without NUL, at which some
// tools would cut it.
func clean(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// text is a nullable column's value, empty for NULL.
func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// orNull is the reverse of text.
func orNull[T ~string](s T) *string {
	if s == "" {
		return nil
	}
	v := string(s)
	return &v
}

// moment reads a stored time; one that is damaged is the zero time, which
// verify reports.
func moment(s string) time.Time {
	t, err := chat.ParseTime(s)
	if err != nil {
		return time.Time{}
	}
	return t
}

func momentOrNil(s *string) *time.Time {
	if s == nil {
		return nil
	}
	t := moment(*s)
	return &t
}
