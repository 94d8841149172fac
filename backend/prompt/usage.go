package prompt

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"contextinfinity/backend/chat"
)

// Usage is how full a context is (FORGE's ContextUsage), in the model's own tokens.
type Usage struct {
	Used      int // tokens
	Recalled  int // part of Used taken by retrieved memory, which is reduced automatically
	Ceiling   int
	Summaries int // number of range summaries
	Extracts  int // number of extracts, for turns without a summary
}

// UsageOf reads a manifest.
func UsageOf(m Manifest) Usage {
	u := Usage{Used: m.Budget.InModelTokens(m.TotalTokens), Ceiling: m.WorkingSet()}
	for _, s := range m.Sections {
		switch s.Name {
		case SectionSummaries:
			for _, item := range s.Items {
				switch item.Source {
				case "summary":
					u.Summaries++
				case "extract":
					u.Extracts++
				}
			}
		case SectionRetrieved:
			u.Recalled = m.Budget.InModelTokens(s.Tokens)
		}
	}
	return u
}

// Percent is the share of the ceiling in use.
func (u Usage) Percent() float64 { return u.percent(u.Used) }

func (u Usage) percent(tokens int) float64 {
	if u.Ceiling <= 0 {
		return 0
	}
	return 100 * float64(tokens) / float64(u.Ceiling)
}

// Format is the meter's text: "2.1k / 200k (1%)", "12.4k / 50k (25%) [2S]",
// "[2S 1E]" with an extract.
func (u Usage) Format() string {
	s := fmt.Sprintf("%s / %s (%.0f%%)", compact(u.Used), compact(u.Ceiling), u.Percent())
	var marks []string
	if u.Summaries > 0 {
		marks = append(marks, fmt.Sprintf("%dS", u.Summaries))
	}
	if u.Extracts > 0 {
		marks = append(marks, fmt.Sprintf("%dE", u.Extracts))
	}
	if len(marks) > 0 {
		s += " [" + strings.Join(marks, " ") + "]"
	}
	return s
}

// State is the meter's label: "plenty" under 70 %, "filling" up to 90 %, then "nearly full". Retrieved memory does not
// count: it fills the space that other sections leave, so a long conversation would always be nearly full.
func (u Usage) State() string {
	switch p := u.percent(u.Used - u.Recalled); {
	case p < 70:
		return "plenty"
	case p <= 90:
		return "filling"
	}
	return "nearly full"
}

func compact(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 1_000_000:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/1000), ".0") + "k"
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/1e6), ".0") + "M"
}

// UsageKind is a case of FCRATE's ContextUsageStatus.
type UsageKind string

// The kinds of a UsageStatus.
const (
	// UsageReady: what is older than the cut has summaries, and the newest turns are complete.
	UsageReady UsageKind = "ready"
	// UsageNeedsSummarization: turns that do not fit have no summary yet; extracts represent them until then.
	UsageNeedsSummarization UsageKind = "needs_summarization"
	// UsageRecentTooLarge: the newest messages alone are larger than the ceiling, so no summary can help.
	UsageRecentTooLarge UsageKind = "recent_too_large"
)

// UsageStatus says what a context needs, with numbers (FCRATE). Tokens are the model's own, those of the complete turns.
type UsageStatus struct {
	Kind UsageKind `json:"kind"`
	// Excess is the size of the turns that need a summary, and Turns their turn_seqs, in order.
	Excess int     `json:"excess_tokens,omitempty"`
	Turns  []int64 `json:"turns,omitempty"`
	// Required is what a context with complete newest messages would take, and Budget the ceiling.
	Required   int         `json:"required_tokens,omitempty"`
	Budget     int         `json:"budget_tokens,omitempty"`
	Suggestion chat.Phrase `json:"suggestion,omitzero"`
}

// status describes the finished context.
func (a *assembler) status() UsageStatus {
	full := map[int64]int{}
	for _, s := range a.in.Sizes {
		full[s.Seq] = s.Tokens
	}
	if len(a.shortened) > 0 {
		required := a.used()
		for _, r := range append(append([]rendered{}, a.originals...), a.pending...) {
			required += full[r.turn] - r.tokens
			full[r.turn] = 0 // both messages of a turn are counted at once
		}
		return tooLargeStatus(a.budget.InModelTokens(required), a.limit())
	}
	st := UsageStatus{Kind: UsageReady}
	summarized := func(seq int64) bool { // a new summary is not used before the cut moves
		return slices.ContainsFunc(a.in.Summaries, func(s Summary) bool { return s.From <= seq && seq < s.To })
	}
	add := func(from, to int64) {
		for _, s := range a.in.Sizes {
			if from <= s.Seq && s.Seq < to && !summarized(s.Seq) {
				st.Excess += s.Tokens
				st.Turns = append(st.Turns, s.Seq)
			}
		}
	}
	for _, p := range a.pieces {
		if a.summaryOf(p) == nil {
			add(p.From, p.To)
		}
	}
	for _, seq := range a.dropped {
		add(seq, seq+1)
	}
	if len(st.Turns) > 0 {
		st.Excess = a.budget.InModelTokens(st.Excess)
		st.Kind = UsageNeedsSummarization
		st.Suggestion = chat.Say("%d turns that no longer fit have no summary yet. Background work makes it; contextinfinity summarize makes it now.", len(st.Turns))
	}
	return st
}

func tooLargeStatus(required, budget int) UsageStatus {
	return UsageStatus{
		Kind: UsageRecentTooLarge, Required: required, Budget: budget,
		Suggestion: chat.Say("The newest messages take more than fits. Lower summary.preserve_recent, raise budget.working_set_tokens, or choose a model with a larger window."),
	}
}

// StatusOfError is the status of a context that could not be assembled; false: for another reason than its size.
func StatusOfError(err error) (UsageStatus, bool) {
	if recent, ok := errors.AsType[*RecentMessagesTooLarge](err); ok {
		return tooLargeStatus(recent.Required, recent.Budget), true
	}
	if over, ok := errors.AsType[*OverBudgetError](err); ok {
		return tooLargeStatus(over.Required, over.Ceiling), true
	}
	return UsageStatus{}, false
}
