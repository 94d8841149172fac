package turn

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/journal"
	"contextinfinity/backend/llm"
)

// Causes for cancelling a running stream.
var (
	errStopped = errors.New("stopped by the user")
	errIdle    = errors.New("the stream was silent for too long")
	errClosing = errors.New("the program was closed")
)

// verdict is what happens to a turn after a stream has ended.
type verdict int

const (
	verdictFinal      verdict = iota // TX-A
	verdictIncomplete                // there is text; the user decides
	verdictFailed                    // there is no text
	verdictRetry                     // nothing arrived and another try may help
	verdictShrink                    // rejected for its size: assemble a smaller context
	verdictComplete                  // the provider has forgotten the continued answer: send everything
	verdictAdapt                     // the server does not accept a part of the request: send it without
	verdictTools                     // the model requested tools, which may run
	verdictPaused                    // the provider paused the answer, which continues when it is sent back
)

// ending is the judgement of one attempt.
type ending struct {
	verdict    verdict
	outcome    chat.Outcome // of a final turn
	step       chat.StepOutcome
	failure    *chat.Failure
	cause      error // of the failure
	retryAfter time.Duration
	journal    journal.EndKind
}

// attempt is the input of a judgement.
type attempt struct {
	result    llm.Result
	err       error // transport error; nil if the stream ended normally
	events    int   // number of events that arrived
	number    int   // from 1
	earlier   bool  // visible text from earlier steps or attempts exists
	stopped   bool  // recovery: the journal ends with a stopped entry
	shrunk    int   // how often the context was made smaller already
	mode      llm.ToolsMode
	refused   []string // parts of a request that the server is known to refuse
	continues bool     // the request continues an answer stored by the provider
	moreSteps bool     // another step is allowed
}

// judge decides how an attempt ended (SPEC 4). Live streaming and recovery both use it, so the results agree.
func judge(a attempt) ending {
	switch {
	case a.stopped || errors.Is(a.err, errStopped):
		return judgeStopped(a)
	case a.err != nil:
		return judgeError(a, failureOf(a.err), a.err)
	case !a.result.Terminal:
		return judgeError(a, cutFailure(a), nil)
	case a.result.Status == chat.StepFailed:
		return judgeError(a, failureOf(a.result.Err), a.result.Err)
	}
	return judgeDone(a)
}

func judgeStopped(a attempt) ending {
	e := ending{step: chat.StepOutcome{Status: chat.StepCancelled}, journal: journal.EndStopped}
	if hasText(a.result.Blocks) || a.earlier {
		e.verdict, e.outcome = verdictFinal, chat.OutcomeStopped
		return e
	}
	e.verdict = verdictFailed
	e.failure = &chat.Failure{Code: chat.CodeCancelled, Message: "Stopped before an answer arrived. Your message is saved.", Hint: "retry at any time"}
	return e
}

// judgeError handles every end except the provider's own: with text the user decides; without text, the attempt is
// retried if that may help, and otherwise has failed.
func judgeError(a attempt, f *chat.Failure, cause error) ending {
	e := ending{
		failure: f, cause: cause, journal: journal.EndError,
		step: chat.StepOutcome{Status: chat.StepFailed, Code: f.Code, Message: f.Message, Words: f.Words},
	}
	if a.result.Status == chat.StepIncomplete || (a.err == nil && !a.result.Terminal) {
		e.step.Status, e.step.Reason = chat.StepIncomplete, "the stream was cut off"
	}
	if llm.IsTooLong(cause) {
		e.step.Status, e.step.Reason = chat.StepIncomplete, "too long"
	}
	f.Attempts = a.number
	wait, retry := retryable(cause)
	switch {
	case hasText(a.result.Blocks), llm.IsTooLong(cause) && len(a.result.Blocks) > 0:
		e.verdict = verdictIncomplete
	case a.events == 0 && refusedPart(cause) != "" && !slices.Contains(a.refused, refusedPart(cause)):
		e.verdict = verdictAdapt
	case tooLarge(cause) && a.shrunk < maxShrinks:
		e.verdict = verdictShrink
	case a.continues && wasForgotten(cause):
		e.verdict = verdictComplete
	case a.events == 0 && retry && a.number < MaxAttempts && wait <= MaxRetryAfter:
		e.verdict, e.retryAfter = verdictRetry, wait
	case a.earlier:
		e.verdict = verdictIncomplete
	default:
		e.verdict = verdictFailed
	}
	return e
}

func judgeDone(a attempt) ending {
	r := a.result
	e := ending{
		verdict: verdictFinal, outcome: chat.OutcomeCompleted, journal: journal.EndDone,
		step: chat.StepOutcome{Status: r.Status, Reason: r.Reason},
	}
	if a.mode == llm.ToolsEnabled && r.Status == chat.StepPaused && !r.Refused && len(usesIn(r.Blocks)) > 0 {
		e.verdict = verdictTools
		return e
	}
	if a.moreSteps && r.Status == chat.StepPaused && r.Reason == llm.ReasonPauseTurn && substantial(r.Blocks) && len(usesIn(r.Blocks)) == 0 {
		e.verdict = verdictPaused
		return e
	}
	switch {
	case r.Refused:
		e.outcome = chat.OutcomeRefused
	case r.Status == chat.StepIncomplete:
		e.outcome = chat.OutcomeTruncated
	case r.Status == chat.StepPaused:
		e.outcome = chat.OutcomePaused
	}
	if !substantial(r.Blocks) && !a.earlier {
		e.verdict, e.outcome, e.failure = verdictFailed, "", emptyFailure(r)
	}
	return e
}

// emptyFailure explains an answer that ended normally but is empty.
func emptyFailure(r llm.Result) *chat.Failure {
	f := &chat.Failure{Code: chat.CodeProvider, Message: "The model ended its answer without saying anything. Your message is saved.", Hint: "retry, or choose another model"}
	switch {
	case r.Refused:
		f.Message = "The provider declined to answer and gave no reason. Your message is saved."
		f.Hint = "rephrase it, or choose another model"
	case r.Reason == "max_output_tokens":
		f.Message = "The model used up its output limit before its first visible word. Your message is saved."
		f.Hint = "raise the model's max_output, or lower its reasoning effort"
	}
	return f
}

// cutFailure is for a stream without its terminal event.
func cutFailure(a attempt) *chat.Failure {
	f := &chat.Failure{Code: chat.CodeUnavailable, Message: "The answer was cut off: the connection ended before the provider said it was done."}
	if a.events == 0 {
		f.Message = "The provider closed the connection without answering. Your message is saved."
	}
	f.Hint = "retry, or continue from the partial answer"
	return f
}

// failureOf converts any error of a call to its stored form.
func failureOf(err error) *chat.Failure {
	var le *llm.Error
	var ce *chat.Error
	switch {
	case errors.Is(err, errIdle):
		return &chat.Failure{Code: chat.CodeTimeout, Message: "Nothing arrived for too long, so the call was stopped. Any partial answer is kept.", Hint: "retry, or raise stream.idle_timeout_s"}
	case errors.Is(err, errClosing):
		return &chat.Failure{Code: chat.CodeCancelled, Message: "The program was closed while the answer was arriving. The partial answer is kept.", Hint: "continue or retry"}
	case errors.As(err, &le):
		f := chat.NewFailure(le.Code, providerMessage(le), hintFor(le))
		f.Status = le.Status
		return f
	case errors.As(err, &ce):
		return chat.NewFailure(ce.Code, ce.Said(), ce.Advised())
	}
	return &chat.Failure{Code: chat.CodeInternal, Message: err.Error()}
}

func providerMessage(e *llm.Error) chat.Phrase {
	if e.Status != 0 {
		return chat.Say("The provider answered %d: %s", e.Status, e)
	}
	return e.Phrase()
}

// hintFor says what to do about each kind of provider error.
func hintFor(e *llm.Error) chat.Phrase {
	if e.Unpaid {
		return chat.Say("add credit at the provider, or choose another model")
	}
	if e.NoTools {
		return chat.Say("turn tools off for this session, or choose another model")
	}
	switch e.Code {
	case chat.CodeAuth:
		return chat.Say("check the key: contextinfinity keys list, or Settings, Providers and keys")
	case chat.CodeRateLimited:
		if e.RetryAfter > 0 {
			return chat.Say("the provider asks to wait %s, then retry", e.RetryAfter.Round(time.Second))
		}
		return chat.Say("wait a little, then retry")
	case chat.CodeTooLarge:
		return chat.Say("lower budget.working_set_tokens, or set the model's context_limit to its actual value")
	case chat.CodeUnavailable:
		return chat.Say("check that the server is running and its address is right, then retry")
	case chat.CodeToolCall:
		return chat.Say("set tools.mode to \"parse_only\" to see such calls, or ask again")
	case chat.CodeTimeout:
		return chat.Say("retry")
	}
	return chat.Say("retry, or choose another model")
}

// retryable reports whether the same call may succeed later, and the pause that the provider requests.
func retryable(err error) (time.Duration, bool) {
	if le, ok := errors.AsType[*llm.Error](err); ok {
		return le.RetryAfter, le.Retryable()
	}
	if _, ok := errors.AsType[net.Error](err); ok && !errors.Is(err, context.Canceled) {
		return 0, true
	}
	return 0, false
}

// hasText reports whether blocks contain visible text.
func hasText(bs chat.Blocks) bool {
	for _, b := range bs { // one by one, because their joined text may be long
		if strings.TrimSpace(chat.Blocks{b}.RenderedText()) != "" {
			return true
		}
	}
	return false
}

// substantial reports whether blocks are worth keeping as an answer: visible text, a call, an image, or a block of
// unknown type. Reasoning alone is not an answer.
func substantial(bs chat.Blocks) bool {
	for _, b := range bs {
		switch b.(type) {
		case chat.ToolUse, chat.ToolResult, chat.Image, chat.Unknown:
			return true
		}
	}
	return hasText(bs)
}
