package turn

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"unicode"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm"
	"contextinfinity/backend/tools"
)

// maxCalls is the maximum number of calls of one step that are run.
const maxCalls = 64

// defaultMaxSteps is the default of tools.max_steps.
const defaultMaxSteps = 16

// modeOf is the mode of a stored step, with which its stream is decoded. Older steps, without a recorded mode, could
// not run tools.
func modeOf(s chat.Step) llm.ToolsMode {
	if s.ToolsMode == "" {
		return llm.ToolsParseOnly
	}
	return llm.ToolsMode(s.ToolsMode)
}

// offer returns the definitions for a request to a model.
func (e *Engine) offer(ctx context.Context, m Model, session chat.SessionID) ([]chat.ToolDefinition, error) {
	if e.tools == nil || m.NoTools || m.Endpoint.ToolsMode == llm.ToolsDisabled || m.Endpoint.Provider == recallModel {
		return nil, nil
	}
	return e.offered(ctx, session)
}

// definition is a tool's current definition.
func (e *Engine) definition(source, tool string) (chat.ToolDefinition, tools.Source, bool) {
	if e.tools == nil || source == "" {
		return chat.ToolDefinition{}, nil, false
	}
	src, ok := e.tools.Source(source)
	if !ok {
		return chat.ToolDefinition{}, nil, false
	}
	for _, d := range src.Definitions() {
		if d.Tool == tool {
			return d, src, true
		}
	}
	return chat.ToolDefinition{}, nil, false
}

// usesIn returns the calls in an answer.
func usesIn(blocks chat.Blocks) (out []chat.ToolUse) {
	for _, b := range blocks {
		if u, ok := b.(chat.ToolUse); ok {
			out = append(out, u)
		}
	}
	return out
}

// proposals returns the calls of an answer with the definitions that were offered.
func proposals(blocks chat.Blocks, offered []chat.ToolDefinition) []chat.ProposedCall {
	var out []chat.ProposedCall
	for _, u := range usesIn(blocks) {
		c := chat.ProposedCall{UseID: u.ToolUseID, Name: u.Name, Arguments: u.Input}
		for _, d := range offered {
			if d.Name == u.Name {
				c.Source, c.Tool, c.Definition, c.Effects = d.Source, d.Tool, d.Hash(), d.Effects
			}
		}
		out = append(out, c)
	}
	return out
}

// isObject reports whether arguments are a JSON object.
func isObject(raw json.RawMessage) bool {
	var object map[string]json.RawMessage
	return json.Unmarshal(raw, &object) == nil && object != nil
}

// repeatsName reports whether an object in a call's arguments has a duplicate name: the user could not tell which of
// the two values a tool uses. The program's own tools ignore case in names, so for them (anyCase) names that differ
// only in case are duplicates. The arguments are valid JSON.
func repeatsName(raw json.RawMessage, anyCase bool) bool {
	type level struct {
		names map[string]bool // nil: a list
		value bool            // the next token is a value, because a name was read
	}
	var open []level
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	for {
		token, err := d.Token()
		if err != nil {
			return false
		}
		if token == json.Delim('}') || token == json.Delim(']') {
			open = open[:len(open)-1]
			continue
		}
		if n := len(open); n > 0 && open[n-1].names != nil {
			current := &open[n-1]
			if current.value = !current.value; current.value {
				name, _ := token.(string)
				if anyCase {
					name = strings.Map(folded, name)
				}
				if current.names[name] {
					return true
				}
				current.names[name] = true
				continue
			}
		}
		switch token {
		case json.Delim('{'):
			open = append(open, level{names: map[string]bool{}})
		case json.Delim('['):
			open = append(open, level{})
		}
	}
}

// folded maps characters that differ only in case to the same character.
func folded(r rune) rune {
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	return least
}

// openBatch is the open batch of a turn, and the number of batches up to it; without one, the number of all batches.
func (e *Engine) openBatch(ctx context.Context, turn chat.TurnID) (open *chat.ToolBatch, n int, err error) {
	list, err := e.batchesOf(ctx, turn)
	for i := range list {
		if list[i].State == chat.BatchAbandoned {
			continue
		}
		if n++; list[i].State == chat.BatchOpen {
			return &list[i], n, err
		}
	}
	return nil, n, err
}

// decideByPolicy decides the calls that need no approval, and reports whether there were any. n is the number of the
// batch in its turn. fresh: the calls were just requested. If the tool of an older call is missing or changed, the
// user decides, because its server may just not have started yet. The user also decides about calls that were not
// requested by this program: policy may deny such a call but never allows it, because it may have run elsewhere, and
// its record was written there.
func (e *Engine) decideByPolicy(ctx context.Context, b chat.ToolBatch, n int, fresh bool) (changed bool, err error) {
	own := fresh
	if !fresh {
		if own, err = e.isOwn(ctx, b); err != nil {
			return false, err
		}
	}
	for _, c := range b.Calls {
		if c.State != chat.CallProposed {
			continue
		}
		d, err := e.policyFor(ctx, b, c, n, fresh)
		if err != nil {
			return changed, err
		}
		if d.Decision == chat.DecisionNone || d.Decision.Allows() && !own {
			continue
		}
		if err := e.toolCalls.DecideCall(ctx, d); err != nil {
			return changed, err
		}
		changed = true
		e.changed(chat.ChangeCall, string(c.ID), b.SessionID)
	}
	return changed, nil
}

// policyFor is the policy's decision about a call; DecisionNone asks the user.
func (e *Engine) policyFor(ctx context.Context, b chat.ToolBatch, c chat.CallRecord, n int, fresh bool) (chat.CallDecision, error) {
	d := chat.CallDecision{Call: c.ID, State: chat.CallProposed, Definition: c.Definition}
	def, _, exists := e.definition(c.Source, c.Tool)
	refusal := ""
	switch {
	case n > e.maxSteps():
		refusal = stepLimitText(e.maxSteps())
	case c.Ordinal >= maxCalls:
		refusal = tooManyCallsText
	case c.Source == "":
		refusal = unknownToolText(c.Name)
	case !isObject(c.Arguments):
		refusal = notObjectText
	case repeatsName(c.Arguments, c.Source == chat.ToolSourceBuiltin):
		refusal = repeatedNameText
	case !fresh && (!exists || def.Hash() != c.Definition):
		return d, nil
	case !exists:
		refusal = unavailableToolText(c.Name)
	case def.Hash() != c.Definition:
		refusal = changedToolText(c.Name)
	}
	if refusal != "" {
		d.Decision, d.Result = chat.DecisionNotRun, errorResult(refusal)
		return d, nil
	}
	var err error
	if d.Decision, err = e.tools.Decision(ctx, b.SessionID, def); err == nil && d.Decision != chat.DecisionNone && !d.Decision.Allows() {
		d.Result = errorResult(deniedText)
	}
	return d, err
}

func (e *Engine) maxSteps() int {
	if n := e.settings().MaxSteps; n > 0 {
		return n
	}
	return defaultMaxSteps
}

// nextCalls returns the calls that can run now. They run in the model's order; only consecutive ones without effects
// run in parallel, if that is allowed. A call waits for all previous ones.
func nextCalls(b chat.ToolBatch, parallel bool) []chat.CallRecord {
	var out []chat.CallRecord
	for _, c := range b.Calls {
		if c.State == chat.CallDone {
			continue
		}
		runs := c.State == chat.CallAllowed || c.State == chat.CallStarted && !c.Effects
		if !runs || len(out) > 0 && (c.Effects || !parallel) {
			return out
		}
		out = append(out, c)
		if c.Effects {
			return out
		}
	}
	return out
}
