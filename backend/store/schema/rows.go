// Package schema defines the database on disk: its rows and their conversion, the list of tables with rows of
// sessions, and the migration of older files.
package schema

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/sqlite"
)

// The stored rows and their conversion. A damaged row is converted as far as it can be read.

type SessionRow struct {
	ID            string
	CreatedAt     string
	UpdatedAt     string
	ArchivedAt    *string
	Pinned        bool
	Source        string
	ActiveBranch  string
	Model         string
	Title         string
	SystemPrompt  string
	Temperature   *float64
	Effort        string
	Folder        string
	ToolsMode     string
	MemoryScope   string
	Assistant     string
	AssistantName string
	BegunBy       string // see core.Device
}

func (SessionRow) TableName() string { return "sessions" }

func (r SessionRow) Session() chat.Session {
	return chat.Session{
		ID: chat.SessionID(r.ID), Title: r.Title, ActiveBranch: chat.BranchID(r.ActiveBranch),
		SystemPrompt: r.SystemPrompt, Model: r.Model, Source: r.Source, Pinned: r.Pinned,
		Temperature: r.Temperature, Effort: r.Effort, Folder: r.Folder, ToolsMode: r.ToolsMode,
		MemoryScope: chat.Scope(r.MemoryScope),
		Assistant:   chat.AssistantID(r.Assistant), AssistantName: r.AssistantName,
		CreatedAt: ParseTime(r.CreatedAt), UpdatedAt: ParseTime(r.UpdatedAt), ArchivedAt: ParseTimeOrNil(r.ArchivedAt),
	}
}

type BranchRow struct {
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
	Lane         string
	Machine      string
	Continues    string
}

func (BranchRow) TableName() string { return "branches" }

func (r BranchRow) Branch() chat.Branch {
	return chat.Branch{
		ID: chat.BranchID(r.ID), SessionID: chat.SessionID(r.SessionID), Label: r.Label,
		ParentBranch: chat.BranchID(Text(r.ParentBranch)), ForkTurn: chat.TurnID(Text(r.ForkTurn)),
		BaseState: chat.StateID(r.BaseState), HeadState: chat.StateID(r.HeadState), HeadSeq: r.HeadSeq,
		Epoch: r.Epoch, CreatedAt: ParseTime(r.CreatedAt), ArchivedAt: ParseTimeOrNil(r.ArchivedAt), Machine: r.Machine,
		Continues: chat.BranchID(r.Continues),
	}
}

type StateRow struct {
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
	SummaryZ       []byte // in place of Summary (states.go)
}

func (StateRow) TableName() string { return "states" }

// StateSchema is the version of a state summary's form.
const StateSchema = 1

// Hash covers the content of a state summary.
func (r StateRow) Hash() []byte {
	return codec.Hash([]byte(r.Summary), []byte{0}, []byte(r.PinnedFacts))
}

func (r StateRow) State() chat.State {
	st := chat.State{
		ID: chat.StateID(r.ID), SessionID: chat.SessionID(r.SessionID), BranchID: chat.BranchID(r.BranchID),
		Seq: r.StateSeq, ParentID: chat.StateID(Text(r.ParentID)), Summary: r.Summary, PinnedFacts: r.PinnedFacts,
		TokenCount: r.TokenCountEst, Origin: chat.StateOrigin(r.Origin), Model: r.Model,
		SchemaVersion: r.SchemaVersion, CreatedAt: ParseTime(r.CreatedAt),
	}
	if r.ValidationJSON != nil && json.Valid([]byte(*r.ValidationJSON)) {
		st.Validation = json.RawMessage(*r.ValidationJSON)
	}
	return st
}

type TurnRow struct {
	ID                        string
	N                         int64 // a short id, assigned once
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

func (TurnRow) TableName() string { return "turns" }

// Turn converts the row. What cannot be decoded becomes an Unknown block with the raw bytes, and the turn's failure
// says so (SPEC 2.13).
func (r TurnRow) Turn() chat.Turn {
	t := chat.Turn{
		ID: chat.TurnID(r.ID), SessionID: chat.SessionID(r.SessionID), BranchID: chat.BranchID(r.BranchID),
		Seq: r.TurnSeq, StateBefore: chat.StateID(r.StateBefore), StateAfter: chat.StateID(Text(r.StateAfter)),
		Phase: chat.Phase(r.Phase), Outcome: chat.Outcome(r.Outcome), IndexStatus: chat.IndexStatus(r.IndexStatus),
		Provider: r.PrimaryProvider, Model: r.PrimaryModel, RetryOf: chat.TurnID(Text(r.RetryOf)),
		CreatedAt: ParseTime(r.CreatedAt), UpdatedAt: ParseTime(r.UpdatedAt),
	}
	var bad []string
	note := func(part string, err error) {
		if err != nil {
			bad = append(bad, part)
		}
	}
	var err error
	t.User, err = DecodeMessage(chat.RoleUser, r.UserMessageJSON)
	note("the user's message", err)
	if r.FinalAssistantMessageJSON != nil {
		m, err := DecodeMessage(chat.RoleAssistant, *r.FinalAssistantMessageJSON)
		t.Assistant = &m
		note("the answer", err)
	}
	t.Failure, err = DecodeOptional[chat.Failure](r.ErrorJSON)
	note("the failure", err)
	t.Usage, err = DecodeOptional[chat.Usage](r.UsageJSON)
	t.Usage = t.Usage.Checked(0)
	note("the usage", err)
	if len(bad) > 0 {
		t.Failure = unreadable("turn", r.ID, bad)
	}
	return t
}

// unreadable returns the failure of a partly unreadable record.
func unreadable(kind, id string, parts []string) *chat.Failure {
	return &chat.Failure{
		Code:    chat.CodeCorrupt,
		Message: fmt.Sprintf("In %s %s, %s cannot be read.", kind, id, strings.Join(parts, " and ")),
		Hint:    "Everything else is intact; run verify, or look in a backup.",
	}
}

func TurnsOf(rows []TurnRow) []chat.Turn {
	return lists.Map(rows, TurnRow.Turn)
}

type StepRow struct {
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
	ItemsZ               []byte  // in place of NormalizedItemsJSON (steps.go)
	Answer               *string `gorm:"->"` // of the turn, if ItemsZ is based on it
	RequestJSON          []byte
	ResponseJSON         []byte
	RawEvents            []byte
	ToolsMode            string
}

func (StepRow) TableName() string { return "steps" }

// StepColumns are all columns of a step except its payload, which is read on demand.
const StepColumns = StepHeadColumns + `, ` + ItemColumns

// StepHeadColumns is StepColumns without the items, which are as long as the answer.
const StepHeadColumns = `id, turn_id, step_index, attempt, status, provider, model_id, started_at, ended_at, stream_path,
	stream_displayed_bytes, stream_durable_bytes, usage_json, outcome_json, tools_mode`

// ItemColumns are the columns that StepRow.Items needs.
const ItemColumns = `normalized_items_json, items_z, CASE WHEN substr(items_z, 1, 1) = x'03'
	THEN (SELECT t.final_assistant_message_json FROM turns t WHERE t.id = steps.turn_id) END AS answer`

func (r StepRow) Step() chat.Step {
	st := chat.Step{
		ID: chat.StepID(r.ID), TurnID: chat.TurnID(r.TurnID), Index: r.StepIndex, Attempt: r.Attempt,
		Provider: r.Provider, ModelID: r.ModelID, ToolsMode: r.ToolsMode, StreamPath: r.StreamPath,
		DisplayedBytes: r.StreamDisplayedBytes, DurableBytes: r.StreamDurableBytes,
		StartedAt: ParseTime(r.StartedAt), EndedAt: ParseTimeOrNil(r.EndedAt),
	}
	outErr := json.Unmarshal([]byte(r.OutcomeJSON), &st.Outcome)
	var itemErr error
	if r.NormalizedItemsJSON != "" || r.ItemsZ != nil { // otherwise they were not selected
		var items string
		if items, itemErr = r.Items(); itemErr == nil {
			st.Items, itemErr = chat.DecodeItems(items)
		}
	}
	usage, useErr := DecodeOptional[chat.Usage](r.UsageJSON)
	st.Usage = usage.Checked(0)
	st.Outcome.Status = chat.StepStatus(r.Status)
	if outErr != nil || itemErr != nil || useErr != nil {
		st.Outcome.Code = chat.CodeCorrupt
		st.Outcome.Message = "A part of step " + r.ID + " cannot be read."
	}
	return st
}

type JobRow struct {
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
	WaitsFor   *int64 // only in lists; not a column
}

func (JobRow) TableName() string { return "jobs" }

func (r JobRow) Job() chat.Job {
	j := chat.Job{
		ID: r.ID, Type: chat.JobType(r.JobType), SessionID: chat.SessionID(Text(r.SessionID)),
		BranchID: chat.BranchID(Text(r.BranchID)), TurnID: chat.TurnID(Text(r.TurnID)),
		State: chat.JobState(r.State), Attempts: r.Attempts, Priority: r.Priority, FromSeq: r.FromSeq,
		RunAfter: ParseTime(r.RunAfter), LeaseUntil: ParseTimeOrNil(r.LeaseUntil), Claim: r.Claim,
		CreatedAt: ParseTime(r.CreatedAt), UpdatedAt: ParseTime(r.UpdatedAt),
	}
	j.LastError, j.Words = chat.Unpack(r.LastError).Split()
	if r.WaitsFor != nil {
		j.WaitsFor = *r.WaitsFor
	}
	return j
}

// EncodeMessage returns a message's stored JSON and its content hash.
func EncodeMessage(m chat.Message) (string, []byte, error) {
	text, hash, err := EncodeText(m)
	if err != nil {
		return "", nil, sqlite.Invalid("The message cannot be stored: %v.", err)
	}
	return text, hash, nil
}

// EncodeText returns the JSON that v writes, and its hash. A long one is held in memory only once.
func EncodeText(v interface{ WriteJSON(io.Writer) error }) (string, []byte, error) {
	var size Counter
	if err := v.WriteJSON(&size); err != nil {
		return "", nil, err
	}
	var text strings.Builder
	text.Grow(int(size))
	hash := sha256.New()
	err := v.WriteJSON(io.MultiWriter(hash, &text))
	return text.String(), hash.Sum(nil), err
}

// Counter counts the bytes written to it.
type Counter int

func (c *Counter) Write(b []byte) (int, error) {
	*c += Counter(len(b))
	return len(b), nil
}

// DecodeMessage decodes a stored message. If that fails, the message contains the raw bytes as an Unknown block,
// which is never sent to a provider.
func DecodeMessage(role chat.Role, raw string) (chat.Message, error) {
	m, err := chat.DecodeMessage(raw)
	if err == nil && m.Role != role {
		err = fmt.Errorf("role %q instead of %q", m.Role, role)
	}
	if err != nil {
		return chat.Message{Role: role, Blocks: chat.Blocks{chat.Unknown{Provider: "contextinfinity", Raw: []byte(raw)}}}, err
	}
	return m, nil
}

func DecodeOptional[T any](raw *string) (*T, error) {
	if raw == nil {
		return nil, nil
	}
	v := new(T)
	if err := json.Unmarshal([]byte(*raw), v); err != nil {
		return nil, err
	}
	return v, nil
}

// EncodeOptional returns JSON text, or nil for a nil pointer.
func EncodeOptional[T any](v *T) (*string, error) {
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

// Clean makes s safe to store as text: valid UTF-8 without NUL, at which some tools would cut it.
func Clean(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// Text returns a nullable column's value, empty for NULL.
func Text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// OrNull is the reverse of Text.
func OrNull[T ~string](s T) *string {
	if s == "" {
		return nil
	}
	v := string(s)
	return &v
}

// ParseTime parses a stored time; a damaged one is the zero time, which verify reports.
func ParseTime(s string) time.Time {
	t, err := chat.ParseTime(s)
	if err != nil {
		return time.Time{}
	}
	return t
}

func ParseTimeOrNil(s *string) *time.Time {
	if s == nil {
		return nil
	}
	t := ParseTime(*s)
	return &t
}
