package verify

// Range summaries, sizes of turns, and the chains of requests and manifests.

import (
	"encoding/json"
	"errors"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/delta"
	"contextinfinity/backend/store/records"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// summaries checks summaries against their turns, each other and the replay.
func (a *Audit) summaries() {
	ranges := map[string]schema.RangeSummaryRow{}
	each(a, "summaries", "id, branch_id, from_seq, to_seq", "id", func(r schema.RangeSummaryRow) { ranges[r.ID] = r })
	lineages := map[string][]core.Segment{}
	each(a, "summaries", "*", "id", func(r schema.RangeSummaryRow) {
		a.times("summaries", r.ID, &r.CreatedAt)
		a.expect(r.Intact(), FindContent, "summaries", r.ID, "Its text does not match its hash.")
		a.expect(r.TokenCount < r.OriginalTokens && strings.TrimSpace(r.Content) != "", FindContent, "summaries", r.ID,
			"It has %d tokens for turns of %d, and does not reduce them.", r.TokenCount, r.OriginalTokens)
		a.expect(r.ValidationJSON == nil || json.Valid([]byte(*r.ValidationJSON)), FindContent, "summaries", r.ID, "Its validation cannot be read.")
		a.summaryRange(r, lineages)
		if r.SupersededBy != nil {
			newer, ok := ranges[*r.SupersededBy]
			a.expect(ok && newer.ID != r.ID && newer.BranchID == r.BranchID && newer.FromSeq <= r.FromSeq && newer.ToSeq >= r.ToSeq,
				findHistory, "summaries", r.ID, "The summary that superseded it does not represent its turns.")
		}
		a.Have.Summaries[r.ID] = r.ToLedgerRecord()
	})
}

// summaryRange checks that a summary represents committed turns, and that its branch owns the last one; on a branch of
// a device that continued another's, the other may own it.
func (a *Audit) summaryRange(r schema.RangeSummaryRow, lineages map[string][]core.Segment) {
	segs, ok := lineages[r.BranchID]
	if !ok {
		segs, _ = core.SegmentsOrFile(a.DB, chat.BranchID(r.BranchID)) // none: it has no branch, and so no turns
		lineages[r.BranchID] = segs
	}
	committed, failed, err := records.CommittedIn(a.DB, segs, r.FromSeq, r.ToSeq)
	owned := len(segs) > 0 && (r.ToSeq-1 > segs[len(segs)-1].From || a.Want.Branches[r.BranchID] != nil && a.Want.Branches[r.BranchID].Lane != "")
	a.expect(err == nil && committed > 0 && committed+failed == r.ToSeq-r.FromSeq && owned,
		findHistory, "summaries", r.ID, "Not all of the turns that it represents are committed turns of its branch.")
}

// sizes checks that only final turns have a size. Counts are derived and not compared.
func (a *Audit) sizes() {
	strays, err := sqlite.All[string](a.DB, `SELECT n.turn_id || '/' || n.encoding FROM turn_tokens n LEFT JOIN turns t ON t.id = n.turn_id
		WHERE t.final_assistant_message_json IS NULL ORDER BY 1`)
	a.expect(err == nil, findUnreadable, "turn_tokens", "", "Sizes cannot be read.")
	for _, id := range strays {
		a.add(findHistory, "turn_tokens", id, "It is the size of a turn that does not exist, or is not final.")
	}
}

// chainAudit decodes the values of a chain in order, each once: the newest ones are cached for those packed against
// them.
type chainAudit struct {
	delta.Chain
	links   map[string]delta.LinkRow
	decoded core.RecentValues
}

// chain reads the session's links of a kind and checks them.
func (a *Audit) chain(c delta.Chain) *chainAudit {
	ca := &chainAudit{Chain: c, links: map[string]delta.LinkRow{}}
	if !a.mayHold(c.Links) {
		return ca
	}
	rows, err := sqlite.All[delta.LinkRow](a.DB, `SELECT `+c.Key+` AS id, coalesce(base, '') AS base, depth, quotes FROM `+c.Links+
		` WHERE `+a.linksOf(c), a.scope()...)
	a.expect(err == nil, findUnreadable, c.Links, "", "Links cannot be read.")
	for _, r := range rows {
		ca.links[r.ID] = r
	}
	for id, l := range ca.links {
		if a.part != "" {
			break // the bases may be in the rest
		}
		a.expect(l.Base == "" && l.Depth == 0 || l.Depth == ca.links[l.Base].Depth+1 && l.Depth < delta.MaxChain, findHistory, c.Table, id,
			"It is link %d of its chain, after link %d.", l.Depth, ca.links[l.Base].Depth)
	}
	return ca
}

// links checks that links refer to existing records.
func (a *Audit) links() {
	for _, c := range []delta.Chain{delta.RequestChain, delta.ManifestChain} {
		strays, err := sqlite.All[string](a.DB, `SELECT l.`+c.Key+` FROM `+c.Links+` l LEFT JOIN `+c.Table+` v ON v.id = l.`+c.Key+
			` LEFT JOIN `+c.Table+` b ON b.id = l.base WHERE v.id IS NULL OR l.base IS NOT NULL AND b.id IS NULL ORDER BY 1`)
		a.expect(err == nil, findUnreadable, c.Links, "", "Links cannot be read.")
		for _, id := range strays {
			a.add(findForeignKey, c.Links, id, "It links records of %s of which one does not exist.", c.Table)
		}
	}
}

// decode decodes a value. If its base is unreadable, so is the value: the audit then names every value of the chain
// from the damaged one on.
func (ca *chainAudit) decode(a *Audit, id string, packed []byte) ([]byte, error) {
	value, err := ca.unpack(a, id, packed)
	if err == nil {
		ca.decoded.Put(id, value)
	}
	return value, err
}

func (ca *chainAudit) unpack(a *Audit, id string, packed []byte) ([]byte, error) {
	link, linked := ca.links[id]
	if !linked {
		return codec.Unpack(packed)
	}
	quoted, err := delta.ReadQuoted(a.DB, link.Quotes)
	if err != nil {
		return nil, err
	}
	ca.quotesOf(a, id, link.Quotes)
	if link.Base == "" {
		return ca.Chain.Unpack(nil, false, link.Quotes, quoted, packed)
	}
	base, ok := ca.decoded.Get(link.Base)
	if !ok {
		if base, err = ca.Read(a.DB, link.Base, nil); err != nil {
			return nil, err
		}
		if base == nil {
			return nil, errors.New("the value it is packed against is gone")
		}
		ca.decoded.Put(link.Base, base)
	}
	return ca.Chain.Unpack(base, true, link.Quotes, quoted, packed)
}

// quotesOf checks that quoted chunks are listed among the retrieved ones, by which a deletion finds the quotes.
func (ca *chainAudit) quotesOf(a *Audit, id string, quotes []byte) {
	ns, _ := delta.DecodeQuotes(quotes) // was decoded before
	if len(ns) == 0 {
		return
	}
	list, err := chat.MarshalJSON(ns)
	turn := `t.id = ?`
	if ca.Table == "steps" {
		turn = `t.id = (SELECT turn_id FROM steps WHERE id = ?)`
	}
	hidden := 0
	if err == nil {
		hidden, err = sqlite.One[int](a.DB, ca.Chain.Links, id, `SELECT count(*) FROM json_each(?) j WHERE NOT EXISTS
			(SELECT 1 FROM turns t JOIN retrieved r ON r.turn_n = t.n WHERE `+turn+` AND r.chunk_n = j.value)`, string(list), id)
	}
	a.expect(err == nil && hidden == 0, findHistory, ca.Chain.Links, id, "It quotes chunks that were not retrieved for its turn.")
}
