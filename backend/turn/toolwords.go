package turn

import (
	"fmt"

	"contextinfinity/backend/chat"
)

// The texts for the model about calls that did not run, or whose outcome is unknown. They are exact, so that the model
// neither repeats such a call nor relies on it.
const (
	deniedWords   = "Not run: the user did not allow this call."
	stoppedWords  = "Not run: the user stopped the answer before this call began."
	noObjectWords = "Not run: the arguments are not a JSON object. Nothing was changed."
	repeatedWords = "Not run: an object in the arguments has a name twice. Nothing was changed. Write each name once."
	unknownWords  = "The outcome of this call is unknown: it was started, and no result came. It may or may not have had its effects. " +
		"Do not repeat it before you have verified what it did."
)

var tooManyWords = fmt.Sprintf("Not run: an answer may call at most %d tools at once.", maxCalls)

func limitWords(steps int) string {
	return fmt.Sprintf("Not run: the limit of %d steps with tool calls in one answer is reached. Answer now with what you have.", steps)
}

func unknownToolWords(name string) string {
	return fmt.Sprintf("Not run: no tool named %q was offered.", name)
}

func unavailableWords(name string) string {
	return fmt.Sprintf("Not run: the tool %s is not available any more.", name)
}

func changedWords(name string) string {
	return fmt.Sprintf("Not run: the definition of the tool %s changed after it was offered. The user has to accept it first.", name)
}

// errorResult is a result that says why the tool returned none.
func errorResult(text string) *chat.ToolResult {
	return &chat.ToolResult{Content: chat.Blocks{chat.Text{Text: text}}, IsError: true}
}

// unansweredEnds are the results of calls that have none when their turn ends.
func unansweredEnds(b *chat.ToolBatch) (out []chat.CallEnd) {
	if b == nil {
		return nil
	}
	for _, c := range b.Calls {
		switch c.State {
		case chat.CallDone:
		case chat.CallStarted, chat.CallUnknown:
			out = append(out, chat.CallEnd{Call: c.ID, Result: errorResult(unknownWords)})
		default:
			out = append(out, chat.CallEnd{Call: c.ID, Result: errorResult(stoppedWords)})
		}
	}
	return out
}

// withEnds is a batch after calls have ended.
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
