package builtin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/display"
	"contextinfinity/backend/retrieval"
	"contextinfinity/backend/tools"
)

// MemoryStore is the part of the database that is needed to read earlier conversations.
type MemoryStore interface {
	SessionOrFile(context.Context, chat.SessionID) (chat.Session, error)
	Sessions(context.Context, chat.SessionQuery) ([]chat.SessionSummary, error)
	Turn(context.Context, chat.TurnID) (chat.Turn, error)
	Lineage(context.Context, chat.LineageQuery) ([]chat.Turn, error)
	DeletedTurns(context.Context, chat.SessionID, []chat.TurnID) (map[chat.TurnID]time.Time, error)
}

// Searcher searches memory (SPEC 8).
type Searcher interface {
	Search(context.Context, retrieval.Query) (retrieval.Result, error)
}

// Memory reads earlier conversations for the program's models and for other programs.
type Memory struct {
	Store  MemoryStore
	Search Searcher
	// Settings says whether memory is in use, and its scope.
	Settings func() (enabled bool, scope chat.Scope)
	// Reach returns what the model of a session may see; nil: according to Settings.
	Reach func(context.Context, chat.SessionID) (Access, error)
}

// Access is what the model of a session may see.
type Access struct {
	Scope chat.Scope
	// Project are the other sessions of the session's project, and Files the sessions that hold the project's files.
	Project, Files []chat.SessionID
}

// View is what a caller may see.
type View struct {
	Scope   chat.Scope
	Session chat.SessionID // the caller's session; empty: none
	Branch  chat.BranchID
	Turn    chat.TurnID // the current turn, which is not searched
	// Only, if not nil, are the sessions that may be shown.
	Only []chat.SessionID
	// Files are the sessions that hold the files of the caller's project.
	Files []chat.SessionID
}

// MemoryResult is the result of a memory tool, with the turns and sessions that it shows.
type MemoryResult struct {
	Text  string
	Shown []chat.ShownTurn
}

// Limits of the memory tools' results.
const (
	maxQuery      = 4 << 10
	maxHits       = 20
	defaultHits   = 8
	maxSkipped    = 180
	maxHitText    = 1500
	maxTurnText   = 24 << 10 // bytes per side of a turn
	maxListed     = 100
	defaultListed = 30
)

// SearchArguments are the arguments of search_memory.
type SearchArguments struct {
	Query  string `json:"query"`
	Limit  int    `json:"limit,omitempty"`
	Offset int    `json:"offset,omitempty"`
	Since  string `json:"since,omitempty"` // a day, 2026-05-31
	Until  string `json:"until,omitempty"`
	Role   string `json:"role,omitempty"`
}

// TurnArguments are the arguments of get_turn.
type TurnArguments struct {
	TurnID    string `json:"turn_id,omitempty"`
	SessionID string `json:"session_id,omitempty"`
	Number    int64  `json:"number,omitempty"`
	Offset    int    `json:"offset,omitempty"`
}

// SessionArguments are the arguments of list_sessions.
type SessionArguments struct {
	Title  string `json:"title,omitempty"`
	Limit  int    `json:"limit,omitempty"`
	Offset int    `json:"offset,omitempty"`
}

// Schemas of the memory tools' arguments.
const (
	SearchSchema = `{"type":"object","properties":{
		"query":{"type":"string","description":"What to search for: names, numbers, rare words, or a question."},
		"limit":{"type":"integer","minimum":1,"maximum":20,"description":"How many results; default 8."},
		"offset":{"type":"integer","minimum":0,"maximum":180,"description":"How many results to skip, for the next page."},
		"since":{"type":"string","description":"Only what was said on this day or later, as 2026-05-31."},
		"until":{"type":"string","description":"Only what was said on this day or earlier."},
		"role":{"type":"string","enum":["user","assistant"],"description":"Only what the user, or the assistant, said."}},
		"required":["query"],"additionalProperties":false}`
	TurnSchema = `{"type":"object","properties":{
		"turn_id":{"type":"string","description":"Id of a turn, as returned by search_memory."},
		"session_id":{"type":"string","description":"Instead of turn_id: a session; default: the current one."},
		"number":{"type":"integer","minimum":1,"description":"Instead of turn_id: number of the turn in the session."},
		"offset":{"type":"integer","minimum":0,"description":"Where to start in a long turn, in bytes, as given at the end of an earlier result."}},
		"additionalProperties":false}`
	SessionsSchema = `{"type":"object","properties":{
		"title":{"type":"string","description":"Only sessions whose title contains these words."},
		"limit":{"type":"integer","minimum":1,"maximum":100,"description":"How many; default 30."},
		"offset":{"type":"integer","minimum":0,"description":"How many to skip, for the next page."}},
		"additionalProperties":false}`
)

// Descriptions of the memory tools.
const (
	SearchDescription   = "Searches earlier conversations with this user, by words and by meaning. Returns passages with the session, the turn's number and id, who said it, and when. Use it when the answer may depend on something said before that is not in the conversation as you see it."
	TurnDescription     = "Returns one earlier turn in full: the user's message and the assistant's answer. Identify it by turn_id, or by its number in a session."
	SessionsDescription = "Lists earlier conversations, newest first: id, title, number of turns, time of last use."
)

func (m *Memory) tools() []tool {
	enabled, scope := m.Settings()
	if !enabled {
		return nil
	}
	newTool := func(name, title, description, schema string, read func(context.Context, View, tools.Call) (MemoryResult, error)) tool {
		return tool{
			definition: define(name, title, description, schema, false), allowed: true,
			run: func(ctx context.Context, c tools.Call) (tools.Output, error) {
				v, err := m.view(ctx, scope, c)
				if err != nil {
					return tools.Output{}, err
				}
				found, err := read(ctx, v, c)
				return toOutput(found, err)
			},
		}
	}
	return []tool{
		newTool("search_memory", "Search memory", SearchDescription, SearchSchema, func(ctx context.Context, v View, c tools.Call) (MemoryResult, error) {
			var a SearchArguments
			if err := arguments(c, &a); err != nil {
				return MemoryResult{}, err
			}
			return m.SearchMemory(ctx, v, a)
		}),
		newTool("get_turn", "Read a turn", TurnDescription, TurnSchema, func(ctx context.Context, v View, c tools.Call) (MemoryResult, error) {
			var a TurnArguments
			if err := arguments(c, &a); err != nil {
				return MemoryResult{}, err
			}
			return m.GetTurn(ctx, v, a)
		}),
		newTool("list_sessions", "List sessions", SessionsDescription, SessionsSchema, func(ctx context.Context, v View, c tools.Call) (MemoryResult, error) {
			var a SessionArguments
			if err := arguments(c, &a); err != nil {
				return MemoryResult{}, err
			}
			return m.ListSessions(ctx, v, a)
		}),
	}
}

// view returns what the model of a call may see.
func (m *Memory) view(ctx context.Context, scope chat.Scope, c tools.Call) (View, error) {
	v := View{Scope: scope, Session: c.Session, Branch: c.Branch, Turn: c.Turn}
	if m.Reach == nil {
		return v, nil
	}
	r, err := m.Reach(ctx, c.Session)
	if v.Scope = r.Scope; r.Scope == chat.ScopeProject || r.Scope == chat.ScopeAll {
		v.Files = r.Files
	}
	if r.Scope == chat.ScopeProject {
		v.Only = append([]chat.SessionID{c.Session}, r.Project...)
	}
	return v, err
}

// toOutput converts what was found to a tool's output. A refusal and an internal error are outputs too: a memory tool
// has no effects, so the outcome is never unknown.
func toOutput(f MemoryResult, err error) (tools.Output, error) {
	var refusal refused
	switch {
	case err == nil:
		out := text(f.Text)
		out.Recalled = f.Shown
		return out, nil
	case errors.As(err, &refusal):
		return failure("%s", display.Start(refusal.message, 1<<10)), nil
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return tools.Output{}, err
	}
	e := chat.AsError(err)
	if e.Code == chat.CodeNotFound || e.Code == chat.CodeInvalid {
		return failure("%s", e.Message), nil
	}
	return failure("Memory could not be read (%s).", e.Code), nil
}

// IsRefused reports whether the message of an error is for the caller, who requested something forbidden, missing or
// invalid.
func IsRefused(err error) bool {
	var refusal refused
	return errors.As(err, &refusal)
}

// SearchMemory finds passages.
func (m *Memory) SearchMemory(ctx context.Context, v View, a SearchArguments) (MemoryResult, error) {
	within, err := a.within(v)
	if err != nil {
		return MemoryResult{}, err
	}
	if strings.TrimSpace(a.Query) == "" || len(a.Query) > maxQuery {
		return MemoryResult{}, refusal("the query is empty, or longer than %d bytes", maxQuery)
	}
	limit := bounded(a.Limit, defaultHits, maxHits)
	if a.Offset < 0 || a.Offset > maxSkipped {
		return MemoryResult{}, refusal("the offset must be from 0 to %d", maxSkipped)
	}
	upTo := a.Offset + limit
	found, err := m.Search.Search(ctx, retrieval.Query{Text: a.Query, Within: within, Limit: upTo + 1, AllowWordsOnly: true})
	if err != nil {
		return MemoryResult{}, err
	}
	hits, err := m.permitted(ctx, v, found.Hits, upTo+1)
	if err != nil {
		return MemoryResult{}, err
	}
	more := len(hits) > upTo
	hits = hits[min(a.Offset, len(hits)):min(upTo, len(hits))]
	var out MemoryResult
	var b strings.Builder
	if len(hits) == 0 && a.Offset > 0 {
		b.WriteString("There are no more results.")
	} else if len(hits) == 0 {
		b.WriteString("Nothing was found. Try a name, a number or a rarer word.")
	}
	for i, h := range hits {
		if i > 0 {
			b.WriteString("\n\n")
		}
		if h.ProjectFile && h.File != nil {
			fmt.Fprintf(&b, "%d. File %q of this project, %s\n%s", a.Offset+i+1, display.OneLine(display.Clip(h.File.Name, 200)),
				retrieval.Place(h.ChunkText, []chat.Span{h.Unit}), excerpt(h))
			out.note(h.SessionID, h.SourceTurn)
			continue
		}
		fmt.Fprintf(&b, "%d. Session %q (session_id %s), turn #%d (turn_id %s), %s, %s", a.Offset+i+1, display.OneLine(display.Clip(h.SessionTitle, 120)),
			h.SessionID, h.TurnSeq, h.SourceTurn, speaker(h.ChunkText), formatTime(h.At))
		if h.File != nil {
			fmt.Fprintf(&b, ", in the document %q", display.OneLine(display.Clip(h.File.Name, 120)))
		}
		b.WriteString("\n" + excerpt(h))
		out.note(h.SessionID, h.SourceTurn)
	}
	if more {
		fmt.Fprintf(&b, "\n\n[There are more: call search_memory again with offset %d]", upTo)
	}
	if !found.Warning.IsZero() {
		b.WriteString("\n\nOnly words were compared: the search by meaning did not respond.")
	}
	out.Text = b.String()
	return out, nil
}

func (f *MemoryResult) note(s chat.SessionID, t chat.TurnID) {
	if shown := (chat.ShownTurn{Session: s, Turn: t}); !slices.Contains(f.Shown, shown) {
		f.Shown = append(f.Shown, shown)
	}
}

// within returns the scope of a search.
func (a SearchArguments) within(v View) (chat.Within, error) {
	in := chat.Within{Scope: v.Scope, Branch: v.Branch, Session: v.Session, Role: chat.Role(a.Role), Only: v.Only}
	if v.Only != nil {
		in.Only = slices.Concat(v.Only, v.Files)
	}
	if v.Turn != "" {
		in.ExcludeTurns = []chat.TurnID{v.Turn}
	}
	if a.Role != "" && in.Role != chat.RoleUser && in.Role != chat.RoleAssistant {
		return in, refusal("role must be user or assistant")
	}
	var err error
	if in.Since, err = parseDay(a.Since); err != nil {
		return in, err
	}
	if in.Until, err = parseDay(a.Until); err != nil {
		return in, err
	}
	if !in.Until.IsZero() {
		in.Until = in.Until.AddDate(0, 0, 1) // including that day
	}
	return in, nil
}

func parseDay(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	t, err := time.ParseInLocation(time.DateOnly, s, time.Local)
	if err != nil {
		return t, refusal("%q is not a day: days are written as 2026-05-31", display.Clip(s, 40))
	}
	return t, nil
}

// permitted returns the first hits that a caller may see.
func (m *Memory) permitted(ctx context.Context, v View, hits []retrieval.Hit, limit int) ([]retrieval.Hit, error) {
	allowed := map[chat.SessionID]bool{}
	var out []retrieval.Hit
	for _, h := range hits {
		if len(out) == limit {
			break
		}
		ok, known := allowed[h.SessionID]
		if !known {
			s, err := m.Store.SessionOrFile(ctx, h.SessionID)
			if err != nil && chat.CodeOf(err) != chat.CodeNotFound {
				return nil, err
			}
			ok = err == nil && v.canSee(s)
			allowed[h.SessionID] = ok
		}
		if ok {
			out = append(out, h)
		}
	}
	return out, nil
}

// canSee reports whether a caller may see a session: one in scope, and not archived unless it is the caller's own.
func (v View) canSee(s chat.Session) bool {
	switch {
	case slices.Contains(v.Files, s.ID):
		return true
	case v.Only != nil && !slices.Contains(v.Only, s.ID):
		return false
	case s.ID == v.Session:
		return true
	}
	return (v.Scope == chat.ScopeAll || v.Scope == chat.ScopeProject) && s.ArchivedAt == nil
}

func speaker(c chat.ChunkText) string {
	if c.Role == chat.RoleUser && c.Speaker != "" {
		return "user (" + display.OneLine(display.Clip(c.Speaker, 60)) + ")"
	}
	return string(c.Role)
}

func formatTime(at time.Time) string { return at.Local().Format("2 January 2006, 15:04") }

// excerpt returns the passage of a hit, with as much of the text around it as fits.
func excerpt(h retrieval.Hit) string {
	t := h.Text
	if len(t) <= maxHitText {
		return t
	}
	from := min(max(0, h.Unit.Start-h.Start-maxHitText/4), len(t)-maxHitText)
	from = display.CharacterStart(t, from)
	part := display.Start(t[from:], maxHitText)
	if from > 0 {
		part = "…" + part
	}
	if from+len(part) < len(t) {
		part += "…"
	}
	return part
}

// bounded returns n, at most limit; byDefault if n is not positive.
func bounded(n, byDefault, limit int) int {
	if n <= 0 {
		return byDefault
	}
	return min(n, limit)
}
