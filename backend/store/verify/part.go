package verify

import (
	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/delta"
)

// A session that grew by some turns is not compared as a whole: of the tables that grow with it, only the rows that belong to
// these turns, states and summaries.

const (
	partIDs   = `(SELECT value FROM json_each(?))`
	partTurns = `turn_id IN ` + partIDs
	partCalls = `tool_call_id IN (SELECT c.id FROM tool_batches b JOIN tool_calls c ON c.batch_id = b.id WHERE b.` + partTurns + `)`
)

var partScopes = map[string]string{
	"states": `id IN ` + partIDs, "turns": `id IN ` + partIDs, "summaries": `id IN ` + partIDs,
	"steps": partTurns, "tool_batches": partTurns, "tool_results": partCalls, "tool_recalled": partCalls,
	"tool_calls": `batch_id IN (SELECT b.id FROM tool_batches b WHERE b.` + partTurns + `)`,
	"files":      partTurns, "chunks": `source_turn IN ` + partIDs, "units": partTurns,
}

// ComparePart compares the rows of some turns, states and summaries with the state of their session.
func ComparePart(db *gorm.DB, want *ledger.State, ids []string) ([]chat.Finding, error) {
	list, err := chat.MarshalJSON(ids)
	if err != nil {
		return nil, err
	}
	a := NewAudit()
	a.DB, a.session, a.part = db, want.SessionID, string(list)
	a.Want, a.Have, a.named = want, ledger.NewState(want.SessionID), map[string]bool{}
	for table, scope := range partScopes {
		a.scopes[table] = scope
	}
	a.records(func(have, want *ledger.State) []ledger.Difference { return ledger.Compare(have, want.Part(ids)) })
	for _, check := range []func(){a.TurnSequences, a.StateSequences, a.Heads, a.Strays} {
		check()
	}
	return a.Found, nil
}

// linksOf is within for the links of a chain.
func (a *Audit) linksOf(c delta.Chain) string {
	switch {
	case a.part == "":
		return c.Within(c.Key)
	case c.Table == "steps":
		return c.Key + ` IN (SELECT s.id FROM steps s WHERE s.` + partTurns + `)`
	}
	return c.Key + ` IN ` + partIDs
}
