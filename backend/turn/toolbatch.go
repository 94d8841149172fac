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

// maxCalls is how many calls of one step are run.
const maxCalls = 64

// defaultMaxSteps is tools.max_steps where the settings do not say.
const defaultMaxSteps = 16

// modeOf is the mode that a stored step ran under, by which its stream is read again. Steps
// that are older than the record of it could not run tools.
func modeOf(s chat.Step) llm.ToolsMode {
	if s.ToolsMode == "" {
		return llm.ToolsParseOnly
	}
	return llm.ToolsMode(s.ToolsMode)
}

// offer are the definitions that a request to a model carries.
func (e *Engine) offer(ctx context.Context, m Model, session chat.SessionID) ([]chat.ToolDefinition, error) {
	if e.tools == nil || m.NoTools || m.Endpoint.ToolsMode != llm.ToolsEnabled || m.Endpoint.Provider == recallModel {
		return nil, nil
	}
	return e.offered(ctx, session)
}

// definition is a tool as its source offers it now.
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

// usesIn are the calls that an answer asks for.
func usesIn(blocks chat.Blocks) (out []chat.ToolUse) {
	for _, b := range blocks {
		if u, ok := b.(chat.ToolUse); ok {
			out = append(out, u)
		}
	}
	return out
}

// proposals are the calls of an answer with the definitions that were offered for them.
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

// isObject reports arguments that a tool can be given.
func isObject(raw json.RawMessage) bool {
	var object map[string]json.RawMessage
	return json.Unmarshal(raw, &object) == nil && object != nil
}

// repeatsName reports an object in a call's arguments that has a name twice: which of the two
// values a tool takes is not told by what a person is shown. The program's own tools read names
// without regard to case, so for them those count that differ in it alone. The arguments are
// valid JSON.
func repeatsName(raw json.RawMessage, anyCase bool) bool {
	type level struct {
		names map[string]bool // nil: a list
		value bool            // the name was read, its value comes next
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
			in := &open[n-1]
			if in.value = !in.value; in.value {
				name, _ := token.(string)
				if anyCase {
					name = strings.Map(folded, name)
				}
				if in.names[name] {
					return true
				}
				in.names[name] = true
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

// folded is the same rune for all that differ in case alone.
func folded(r rune) rune {
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	return least
}

// openBatch is the batch of a turn that still has something to do, and how many batches
// the turn has with it; without one, the number is of all.
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

// decideByPolicy decides about the calls that nobody needs to be asked about, and reports
// whether there were any. n is the number of the batch in its turn. fresh calls were asked
// for just now; about an older one whose tool is not there, or is another, a person decides:
// its server may only not have started yet. So a person does about calls that were not asked
// for in this place: policy may refuse them, and never lets one run, whatever is allowed here.
// They may have run elsewhere, and what their records say of effects was written there.
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

// policyFor is the decision about a call that was asked for; DecisionNone asks a person.
func (e *Engine) policyFor(ctx context.Context, b chat.ToolBatch, c chat.CallRecord, n int, fresh bool) (chat.CallDecision, error) {
	d := chat.CallDecision{Call: c.ID, State: chat.CallProposed, Definition: c.Definition}
	def, _, there := e.definition(c.Source, c.Tool)
	refusal := ""
	switch {
	case n > e.maxSteps():
		refusal = limitWords(e.maxSteps())
	case c.Ordinal >= maxCalls:
		refusal = tooManyWords
	case c.Source == "":
		refusal = unknownToolWords(c.Name)
	case !isObject(c.Arguments):
		refusal = noObjectWords
	case repeatsName(c.Arguments, c.Source == chat.ToolSourceBuiltin):
		refusal = repeatedWords
	case !fresh && (!there || def.Hash() != c.Definition):
		return d, nil
	case !there:
		refusal = goneWords(c.Name)
	case def.Hash() != c.Definition:
		refusal = changedWords(c.Name)
	}
	if refusal != "" {
		d.Decision, d.Result = chat.DecisionNotRun, errorResult(refusal)
		return d, nil
	}
	var err error
	if d.Decision, err = e.tools.Decision(ctx, b.SessionID, def); err == nil && d.Decision != chat.DecisionNone && !d.Decision.Allows() {
		d.Result = errorResult(deniedWords)
	}
	return d, err
}

func (e *Engine) maxSteps() int {
	if n := e.settings().MaxSteps; n > 0 {
		return n
	}
	return defaultMaxSteps
}

// nextCalls are the calls that can run now. They run in the model's order; only those
// without effects that follow one another run side by side, where that is allowed. A call
// waits for all before it.
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
