package turn

import (
	"fmt"

	"contextinfinity/backend/chat"
)

// The texts for the model about calls that did not run, or whose outcome is unknown. They are exact, so that the model
// neither repeats such a call nor relies on it.
const (
	deniedText       = "Not run: the user did not allow this call."
	stoppedText      = "Not run: the user stopped the answer before this call began."
	notObjectText    = "Not run: the arguments are not a JSON object. Nothing was changed."
	repeatedNameText = "Not run: an object in the arguments has a name twice. Nothing was changed. Write each name once."
)

var tooManyCallsText = fmt.Sprintf("Not run: an answer may call at most %d tools at once.", maxCalls)

func stepLimitText(steps int) string {
	return fmt.Sprintf("Not run: the limit of %d steps with tool calls in one answer is reached. Answer now with what you have.", steps)
}

func unknownToolText(name string) string {
	return fmt.Sprintf("Not run: no tool named %q was offered.", name)
}

func unavailableToolText(name string) string {
	return fmt.Sprintf("Not run: the tool %s is not available any more.", name)
}

func changedToolText(name string) string {
	return fmt.Sprintf("Not run: the definition of the tool %s changed after it was offered. The user has to accept it first.", name)
}

// errorResult returns a tool result that tells the model why there is no result of the tool.
func errorResult(text string) *chat.ToolResult {
	return &chat.ToolResult{Content: chat.Blocks{chat.Text{Text: text}}, IsError: true}
}

// endsOfUnanswered returns the ends of the calls in a batch that have no result when their turn ends; b may be nil.
func endsOfUnanswered(b *chat.ToolBatch) (ends []chat.CallEnd) {
	if b == nil {
		return nil
	}
	for _, c := range b.Calls {
		switch c.State {
		case chat.CallDone:
		case chat.CallStarted, chat.CallUnknown:
			ends = append(ends, chat.CallEnd{Call: c.ID, Result: errorResult(chat.UnknownOutcome)})
		default:
			ends = append(ends, chat.CallEnd{Call: c.ID, Result: errorResult(stoppedText)})
		}
	}
	return ends
}

// withEnds returns a copy of a batch in which the calls of ends have ended with their results.
func withEnds(b chat.ToolBatch, ends []chat.CallEnd) chat.ToolBatch {
	b.Calls = append([]chat.CallRecord{}, b.Calls...)
	for i := range b.Calls {
		c := &b.Calls[i]
		for _, e := range ends {
			if e.Call == c.ID && e.Result != nil {
				r := *e.Result
				r.ToolUseID = c.UseID
				c.State, c.Result = chat.CallDone, &r
			}
		}
	}
	return b
}
