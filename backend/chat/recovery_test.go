package chat

import (
	"errors"
	"testing"
)

func TestReportAsOfNow(t *testing.T) {
	turns := map[TurnID]Turn{
		"open":    {ID: "open", Phase: PhaseResponding, Outcome: OutcomeIncomplete},
		"kept":    {ID: "kept", Phase: PhaseResponseFinalized, Outcome: OutcomeKept},
		"unsent":  {ID: "unsent", Phase: PhaseContextPrepared},
		"sent":    {ID: "sent", Phase: PhaseResponding},
		"done":    {ID: "done", Phase: PhaseDone, Outcome: OutcomeCompleted},
		"retried": {ID: "retried", Phase: PhaseFailed, Outcome: OutcomeDiscarded},
	}
	lookUp := func(id TurnID) (Turn, error) {
		if id == "locked" {
			return Turn{}, errors.New("the database is busy")
		}
		turn, ok := turns[id]
		if !ok {
			return Turn{}, Errorf(CodeNotFound, "turn.read", "There is no such turn.")
		}
		return turn, nil
	}
	for _, c := range []struct {
		kind  RecoveryKind
		turn  TurnID
		stays bool
	}{
		{RecoveredIncomplete, "open", true},
		{RecoveredIncomplete, "kept", false},
		{RecoveredIncomplete, "retried", false},
		{RecoveredIncomplete, "erased", false},
		{RecoveredIncomplete, "locked", true},
		{RecoveredUnsent, "unsent", true},
		{RecoveredUnsent, "sent", false},
		{RecoveredTools, "open", true},
		{RecoveredTools, "sent", true}, // its tools may have had effects, which the user has not checked yet
		{RecoveredTools, "kept", false},
		{RecoveredTools, "retried", false},
		{RecoveredCompleted, "done", true},
		{RecoveredCompleted, "erased", false},
		{RecoveredPruned, "", true},
	} {
		before := RecoveryReport{Items: []RecoveryItem{{Kind: c.kind, TurnID: c.turn}}}
		if got := before.AsOfNow(lookUp); got.Clean() == c.stays {
			t.Errorf("%s of the turn %q: stays %v, want %v", c.kind, c.turn, !got.Clean(), c.stays)
		}
		if len(before.Items) != 1 || before.Items[0].TurnID != c.turn {
			t.Errorf("%s of the turn %q: the report itself was changed", c.kind, c.turn)
		}
	}
}
