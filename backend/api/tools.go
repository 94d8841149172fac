package api

import (
	"cmp"
	"context"
	"slices"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/llm"
	"contextinfinity/backend/tools"
	"contextinfinity/backend/turn"
)

// Tools shows tools and tool calls, and applies the user's decisions about them (SPEC 10).
type Tools struct{ c *Core }

// NewTools returns the service.
func NewTools(c *Core) *Tools { return &Tools{c} }

// maxCallTurns limits the turns of one request.
const maxCallTurns = 500

// WaitingCalls returns the calls of all sessions that wait for the user, oldest first.
func (s *Tools) WaitingCalls() (WaitingCalls, error) {
	out := WaitingCalls{Calls: []WaitingCallView{}}
	ctx := s.c.ctx()
	out.Rev = s.c.Hub.Rev()
	waiting, err := s.c.Store.WaitingCalls(ctx)
	if err != nil || len(waiting) == 0 {
		return out, err
	}
	knownTools, err := s.knownTools(ctx)
	if err != nil {
		return out, err
	}
	slices.SortStableFunc(waiting, func(a, b chat.WaitingCall) int { return a.AskedAt.Compare(b.AskedAt) })
	for _, w := range waiting {
		v := WaitingCallView{
			Call: s.callView(w.CallRecord, w.StepID, w.AskedAt, knownTools), SessionID: string(w.SessionID), BranchID: string(w.BranchID),
			Session: chat.BoundTitle(w.Session), TurnSeq: w.TurnSeq,
		}
		v.Call.Preview = s.preview(ctx, w.CallRecord, w.SessionID, w.BranchID)
		if d, ok := knownTools[toolName{w.Source, w.Tool}]; ok && d.Pinned != tools.PinnedGone {
			view := definitionView(d)
			v.Definition = &view
		}
		out.Calls = append(out.Calls, v)
	}
	return out, nil
}

// Calls returns all calls of turns, in the order in which models requested them.
func (s *Tools) Calls(turnIDs []string) ([]ToolCallView, error) {
	out := []ToolCallView{}
	if len(turnIDs) > maxCallTurns {
		return out, chat.Errorf(chat.CodeInvalid, "tools.calls", "Calls of at most %d turns are listed at once.", maxCallTurns)
	}
	ids := lists.Map(turnIDs, func(id string) chat.TurnID { return chat.TurnID(id) })
	calls, err := s.callsOf(s.c.ctx(), ids)
	for _, id := range ids {
		out = append(out, calls[id]...)
	}
	return out, err
}

// callsOf returns the calls of turns, by turn. The tools are read only if there are calls.
func (s *Tools) callsOf(ctx context.Context, ids []chat.TurnID) (map[chat.TurnID][]ToolCallView, error) {
	batches, err := s.c.Store.ToolBatches(ctx, ids)
	if err != nil || len(batches) == 0 {
		return nil, err
	}
	knownTools, err := s.knownTools(ctx)
	if err != nil {
		return nil, err
	}
	out := make(map[chat.TurnID][]ToolCallView, len(batches))
	for id, turnBatches := range batches {
		for _, b := range turnBatches {
			for _, c := range b.Calls {
				v := s.callView(c, b.StepID, b.CreatedAt, knownTools)
				if c.State == chat.CallProposed && b.State == chat.BatchOpen {
					v.Preview = s.preview(ctx, c, b.SessionID, b.BranchID)
				}
				out[id] = append(out[id], v)
			}
		}
	}
	return out, nil
}

// Decide decides about a waiting call.
func (s *Tools) Decide(r ToolDecisionRequest) error {
	choice := r.Choice
	switch choice {
	case chat.DecisionOnce, chat.DecisionSession, chat.DecisionAlways, chat.DecisionDeny, chat.DecisionNever:
	default:
		return chat.Errorf(chat.CodeInvalid, "tools.decide", "%q is not a decision about a tool call. Nothing was changed.", r.Choice)
	}
	return s.c.Turns.DecideCall(s.c.ctx(), turn.CallChoice{Call: chat.ToolCallID(r.CallID), Decision: choice, Server: r.Server, Hash: r.Hash})
}

// Resolve resolves a call with an unknown outcome.
func (s *Tools) Resolve(r ToolResolveRequest) error {
	resolution := r.Choice
	if resolution != chat.ResolveEnter && resolution != chat.ResolveRerun && resolution != chat.ResolveTell {
		return chat.Errorf(chat.CodeInvalid, "tools.resolve", "%q is not a way to resolve a tool call. Nothing was changed.", r.Choice)
	}
	return s.c.Turns.ResolveCall(s.c.ctx(), turn.CallResolution{Call: chat.ToolCallID(r.CallID), As: resolution, Text: r.Text, IsError: r.IsError, Hash: r.Hash})
}

// Cancel cancels a running call. If its tool may have effects, its outcome is then unknown.
func (s *Tools) Cancel(callID string) error {
	return s.c.Turns.CancelCall(s.c.ctx(), chat.ToolCallID(callID))
}

// Result returns the complete result of a call.
func (s *Tools) Result(callID string) (ToolResultView, error) {
	out := ToolResultView{Blocks: []BlockView{}}
	b, err := s.c.Store.CallBatch(s.c.ctx(), chat.ToolCallID(callID))
	if err != nil {
		return out, err
	}
	for _, c := range b.Calls {
		if string(c.ID) == callID && c.Result != nil {
			out.Blocks, out.IsError = blockViews(c.Result.Content), c.Result.IsError
			return out, nil
		}
	}
	return out, chat.Errorf(chat.CodeNotFound, "tools.result", "The tool call has no result yet.")
}

// Panel returns the page about tools.
func (s *Tools) Panel() (ToolsPanel, error) {
	out := ToolsPanel{Definitions: []ToolDefinitionView{}, Permissions: []ToolPermissionView{}}
	ctx := s.c.ctx()
	out.Rev, out.Mode = s.c.Hub.Rev(), s.c.Config.Config().Tools.Mode
	p, err := s.c.Tools.Panel(ctx)
	if err != nil {
		return out, err
	}
	out.Definitions = lists.Map(p.Definitions, definitionView)
	for _, existing := range p.Permissions {
		v := ToolPermissionView{Source: existing.Source, Tool: existing.Tool, SessionID: string(existing.Session), Decision: existing.Decision, CreatedAt: ms(existing.CreatedAt)}
		if existing.Session != "" {
			if sess, err := s.c.Sessions.Session(ctx, existing.Session); err == nil {
				v.Session = chat.BoundTitle(sess.Title)
			}
		}
		out.Permissions = append(out.Permissions, v)
	}
	for _, name := range p.Allow {
		out.Permissions = append(out.Permissions, ToolPermissionView{Tool: name, Decision: chat.DecisionAlways, FromConfig: true})
	}
	out.Problems = lists.Map(p.Problems, func(existing tools.Problem) ToolProblemView {
		return ToolProblemView{Source: existing.Source, Tool: existing.Tool, Message: existing.Message}
	})
	return out, nil
}

// Accept accepts the definition with this hash, as it was shown: it is offered to models from now on.
func (s *Tools) Accept(source, tool, hash string) error {
	return s.c.Tools.Accept(s.c.ctx(), source, tool, hash)
}

// SetPermission stores a decision for later calls: "always" or "session" for the definition with this hash, or
// "never". An empty tool means all tools of the source, an empty session all sessions.
func (s *Tools) SetPermission(source, tool, sessionID string, decision chat.ToolDecision, hash string) error {
	return s.c.Tools.Permit(s.c.ctx(), chat.ToolPermission{
		Source: source, Tool: tool, Session: chat.SessionID(sessionID), Decision: decision, Definition: hash,
	})
}

// Forget removes a decision: later calls ask again.
func (s *Tools) Forget(source, tool, sessionID string) error {
	return s.c.Tools.Forget(s.c.ctx(), source, tool, chat.SessionID(sessionID))
}

// MarkReadOnly marks a server's tool, in the definition with this hash, as having no effects; an empty hash removes
// the mark.
func (s *Tools) MarkReadOnly(source, tool, hash string) error {
	return s.c.Tools.MarkReadOnly(s.c.ctx(), source, tool, hash)
}

// SessionMode returns a session's own mode: "disabled", "parse_only", "enabled", or "" for the configured one.
func (s *Tools) SessionMode(sessionID string) (string, error) {
	sess, err := s.c.Sessions.Session(s.c.ctx(), chat.SessionID(sessionID))
	return sess.ToolsMode, err
}

// SetSessionMode sets a session's own mode, starting with the next step.
func (s *Tools) SetSessionMode(sessionID, mode string) error {
	switch llm.ToolsMode(cmp.Or(mode, string(llm.ToolsDisabled))) {
	case llm.ToolsDisabled, llm.ToolsParseOnly, llm.ToolsEnabled:
	default:
		return chat.Errorf(chat.CodeInvalid, "tools.mode", "%q is not a tools mode. Nothing was changed.", mode).
			WithHint("choose disabled, parse_only, enabled, or nothing for the configured mode")
	}
	return s.c.Sessions.ChangeSettings(s.c.ctx(), chat.SessionID(sessionID), func(v *chat.SessionSettings) { v.ToolsMode = mode })
}
