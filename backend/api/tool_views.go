package api

import (
	"context"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/display"
	"contextinfinity/backend/internal/untrusted"
	"contextinfinity/backend/tools"
)

// maxResultShown limits a result's text in a list of calls, in bytes.
const maxResultShown = 8 << 10

// toolName is a tool with its source.
type toolName struct{ source, tool string }

// knownTools returns the existing tools, and those that were accepted earlier.
func (s *Tools) knownTools(ctx context.Context) (map[toolName]tools.Definition, error) {
	p, err := s.c.Tools.Panel(ctx)
	out := make(map[toolName]tools.Definition, len(p.Definitions))
	for _, d := range p.Definitions {
		out[toolName{d.Source, d.Tool}] = d
	}
	return out, err
}

func (s *Tools) callView(c chat.CallRecord, step chat.StepID, asked time.Time, knownTools map[toolName]tools.Definition) ToolCallView {
	d, offered := knownTools[toolName{c.Source, c.Tool}]
	v := ToolCallView{
		ID: string(c.ID), ToolUseID: c.UseID, TurnID: string(c.TurnID), Step: string(step), Name: c.Name, Source: c.Source, Tool: c.Tool,
		Title: d.Title, State: c.State, Decision: c.Decision, Reason: string(c.Reason), Explanation: whyCallWaits(c, d, offered),
		Effects: c.Effects, Arguments: display.JSON(c.Arguments), Redactions: len(c.Redactions), Definition: c.Definition, Runs: c.Runs,
		CreatedAt: ms(asked), DecidedAt: momentMs(c.DecidedAt), StartedAt: momentMs(c.StartedAt), EndedAt: momentMs(c.EndedAt),
	}
	if c.Result != nil {
		text := c.Result.Content.RenderedText()
		v.Result, v.IsError, v.OutcomeUnknown = display.Start(text, maxResultShown), c.Result.IsError, c.Result.OutcomeUnknown()
		for _, b := range c.Result.Content {
			if _, ok := b.(chat.Image); ok {
				v.Images++
			}
		}
		v.ResultMore = len(text) > len(v.Result)
	}
	if c.State == chat.CallStarted {
		var p tools.Progress
		p, v.Running = s.c.Turns.CallProgress(c.ID)
		v.ProgressDone, v.ProgressTotal, v.ProgressMessage = p.Done, p.Total, display.Clip(display.OneLine(untrusted.Visible(p.Message)), 200)
	}
	return v
}

// whyCallWaits says why a call needs the user's decision; empty if it does not.
func whyCallWaits(c chat.CallRecord, d tools.Definition, offered bool) string {
	if c.State == chat.CallUnknown {
		return unknownWords[c.Reason]
	}
	switch {
	case c.State != chat.CallProposed:
		return ""
	case !offered || d.Pinned == tools.PinnedGone:
		return "The tool is not offered now, so the call can only be denied, or wait."
	case d.Hash != c.Definition:
		return "The tool's definition has changed since the model saw it. Review it again."
	case d.AsksEachCall:
		return "You are asked about each call of this tool, because it is not confined."
	}
	return "The model asks to run this tool."
}

var unknownWords = map[chat.UnknownReason]string{
	chat.UnknownCancelled:  "The call was cancelled while it ran. It may have had effects.",
	chat.UnknownTimeout:    "The call took longer than tools.call_timeout_s. It may have had effects, and may still be running.",
	chat.UnknownEnded:      "The tool's server stopped or the connection was lost while the call ran. It may have had effects.",
	chat.UnknownUnreadable: "The tool ran, but its answer cannot be read.",
	chat.UnknownCrash:      "The program ended while the call ran. It may have had effects.",
}

// preview returns what a waiting call would change.
func (s *Tools) preview(ctx context.Context, c chat.CallRecord, session chat.SessionID, branch chat.BranchID) string {
	if c.State != chat.CallProposed || c.Source == "" {
		return ""
	}
	return s.c.Tools.Preview(ctx, c.Source, tools.Call{
		ID: c.ID, Session: session, Branch: branch, Turn: c.TurnID, Tool: c.Tool, Arguments: c.Arguments,
	})
}

func definitionView(d tools.Definition) ToolDefinitionView {
	v := ToolDefinitionView{
		Source: d.Source, Tool: d.Tool, Name: d.Name, Title: d.Title, Description: d.Description, Schema: display.JSON(d.Schema),
		Annotations: display.JSON(d.Annotations), Hash: d.Hash, Effects: d.Effects, BuiltIn: d.BuiltIn, Pinned: d.Pinned,
		Decision: d.Decision, DecisionFrom: d.From, AsksEachCall: d.AsksEachCall,
	}
	if d.Before != nil {
		before := definitionView(tools.Definition{ToolDefinition: d.Before.ToolDefinition, Hash: d.Before.Hash, Pinned: tools.PinnedAccepted})
		v.Before = &before
	}
	return v
}

func momentMs(t *time.Time) int64 {
	if t == nil {
		return 0
	}
	return ms(*t)
}
