package deletion

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/delta"
	"contextinfinity/backend/store/events"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// quotingTurn is a turn with contexts that contained deleted text.
type quotingTurn struct {
	ID        string
	N         int64
	SessionID string
}

// affectedContexts describes the deleted parts of contexts: records by id, and for extracts, which have no record, the
// turns of the session itself.
type affectedContexts struct {
	ids  map[string]bool
	seqs []int64
	// chunks is a condition on c with its arguments.
	chunks string
	args   []any
	steps  bool // whether the results of the turn's own tools are affected
}

// requestMark replaces a request.
func (e *Operation) requestMark() []byte {
	return []byte(schema.DeletedRequest + `{"receipt":"` + e.receipt + `"}}`)
}

// dropAffected replaces the requests of turns by a mark, and removes the deleted content from their manifests and the
// record of their memory.
func (e *Operation) dropAffected(turns []quotingTurn, affected affectedContexts) error {
	requests, manifests := map[string][]byte{}, map[string][]byte{}
	for _, t := range turns {
		if t.SessionID != e.subject.Session {
			e.others[chat.SessionID(t.SessionID)] = true
		}
		steps, err := sqlite.All[string](e.DB, `SELECT id FROM steps WHERE turn_id = ? ORDER BY id`, t.ID)
		if err != nil {
			return err
		}
		for _, id := range steps {
			requests[id] = e.requestMark()
			if err := reword(e, chat.SessionID(t.SessionID), id, []ledger.Type{ledger.EventStepStarted}, func(p *ledger.StepStarted) {
				p.RequestSHA256, p.RequestBytes = schema.HexHash(e.requestMark()), len(e.requestMark())
			}); err != nil {
				return err
			}
		}
		if err := e.dropMemory(t, affected, manifests); err != nil {
			return err
		}
	}
	e.counts["requests"] += int64(len(requests))
	e.counts["manifests"] += int64(len(manifests))
	if err := e.replace(delta.RequestChain, requests); err != nil {
		return err
	}
	return e.replace(delta.ManifestChain, manifests)
}

// dropMemory removes the deleted content from a turn's manifest and from what was retrieved for it.
func (e *Operation) dropMemory(t quotingTurn, affected affectedContexts, manifests map[string][]byte) error {
	manifest, err := delta.ManifestChain.Read(e.DB, t.ID, nil)
	affected.steps = affected.ids[t.ID]
	if err != nil || manifest == nil {
		manifest = nil
	} else if manifest, err = markManifest(manifest, e.receipt, affected); err != nil {
		manifest = []byte(`{"erased":"` + e.receipt + `"}`)
	}
	if err := e.remove("retrieved", `DELETE FROM retrieved WHERE turn_n = ? AND chunk_n IN (SELECT c.n FROM chunks c WHERE `+affected.chunks+`)`,
		append([]any{t.N}, affected.args...)...); err != nil {
		return err
	}
	remaining, err := sqlite.All[schema.NamedRetrieval](e.DB, `SELECT r.*, c.id AS chunk_id FROM retrieved r JOIN chunks c ON c.n = r.chunk_n
		WHERE r.turn_n = ? AND r.rank > 0 ORDER BY r.rank, c.id`, t.N)
	if err != nil {
		return err
	}
	if manifest != nil {
		manifests[t.ID] = manifest
	}
	return rewordLast(e, chat.SessionID(t.SessionID), t.ID, ledger.EventTurnPrepared, func(p *ledger.TurnPrepared) {
		if manifest != nil {
			p.ManifestSHA256 = schema.HexHash(manifest)
		}
		if p.RetrievedSHA256 = ""; len(remaining) > 0 {
			p.RetrievedSHA256 = schema.HexHash(events.RetrievedText(remaining))
		}
	})
}

// replace replaces values of a chain. Values packed against them are repacked alone first, deepest first, because
// decoding one needs its bases unchanged.
func (e *Operation) replace(c delta.Chain, values map[string][]byte) error {
	ids, err := e.deepestFirst(c, values)
	if err != nil {
		return err
	}
	for _, id := range ids {
		dependants, err := sqlite.All[delta.LinkRow](e.DB, `SELECT `+c.Key+` AS id, depth FROM `+c.Links+` WHERE base = ?`, id)
		if err != nil {
			return err
		}
		for _, d := range dependants {
			if _, changes := values[d.ID]; changes {
				continue
			}
			value, err := c.Read(e.DB, d.ID, nil)
			if err != nil {
				return sqlite.CorruptRecord(c.Table, d.ID, err)
			}
			if err := e.packAlone(c, d.ID, value); err != nil {
				return err
			}
		}
		if err := e.packAlone(c, id, values[id]); err != nil {
			return err
		}
	}
	return nil
}

// packAlone stores a value as a key frame and updates the values based on it.
func (e *Operation) packAlone(c delta.Chain, id string, value []byte) error {
	if err := e.Run(fmt.Sprintf(`WITH RECURSIVE below (id, depth) AS (
		  SELECT %[2]s, 1 FROM %[1]s WHERE base = ? UNION ALL
		  SELECT l.%[2]s, below.depth + 1 FROM below JOIN %[1]s l ON l.base = below.id WHERE below.depth < ?)
		UPDATE %[1]s SET depth = (SELECT depth FROM below WHERE below.id = %[1]s.%[2]s) WHERE %[2]s IN (SELECT id FROM below)`,
		c.Links, c.Key), id, delta.MaxChain); err != nil {
		return err
	}
	if err := c.Link(e.Tx, id, nil); err != nil {
		return err
	}
	return e.Run(`UPDATE `+c.Table+` SET `+c.Column+` = ? WHERE id = ?`, codec.Pack(value), id)
}

func (e *Operation) deepestFirst(c delta.Chain, values map[string][]byte) ([]string, error) {
	type entry struct {
		ID    string
		Depth int
	}
	var list []entry
	for id := range values {
		depth, err := sqlite.All[int](e.DB, `SELECT depth FROM `+c.Links+` WHERE `+c.Key+` = ?`, id)
		if err != nil {
			return nil, err
		}
		list = append(list, entry{id, append(depth, 0)[0]})
	}
	slices.SortFunc(list, func(a, b entry) int { return cmp.Or(b.Depth-a.Depth, cmp.Compare(a.ID, b.ID)) })
	return lists.Map(list, func(p entry) string { return p.ID }), nil
}

// matches reports whether the manifest describes a context with deleted content.
func (affected affectedContexts) matches(manifest []byte) bool {
	var m storedManifest
	if json.Unmarshal(manifest, &m) != nil {
		return true // unknown
	}
	if affected.ids[m.Inputs.HeadState] {
		return true
	}
	for _, s := range m.Sections {
		for _, part := range s.Items {
			if affected.matchesPart(part) {
				return true
			}
		}
	}
	return false
}

// storedManifest is the part of a manifest needed here.
type storedManifest struct {
	Sections []struct {
		Items []storedPart `json:"items"`
	} `json:"sections"`
	Inputs struct {
		HeadState string `json:"head_state"`
	} `json:"inputs"`
}

type storedPart struct {
	Source string `json:"source"`
	ID     string `json:"id"`
	Turn   string `json:"turn"`
	From   int64  `json:"from"`
	To     int64  `json:"to"`
}

func (affected affectedContexts) matchesPart(p storedPart) bool {
	if affected.ids[p.ID] || affected.ids[p.Turn] || affected.steps && p.Source == "step" {
		return true
	}
	return p.Source == "extract" && slices.ContainsFunc(affected.seqs, func(seq int64) bool { return p.From <= seq && seq < p.To })
}

// markManifest removes the deleted chunks from a manifest, and the hashes and sizes of other deleted content, and names
// the receipt.
func markManifest(manifest []byte, receipt string, affected affectedContexts) ([]byte, error) {
	var m map[string]any
	if err := json.Unmarshal(manifest, &m); err != nil {
		return nil, err
	}
	m["erased"] = receipt
	sections, _ := m["sections"].([]any)
	for _, s := range sections {
		section, ok := s.(map[string]any)
		if !ok {
			return nil, errors.New("an invalid section")
		}
		items, _ := section["items"].([]any)
		remaining := []any{}
		for _, i := range items {
			item, ok := i.(map[string]any)
			if !ok {
				return nil, errors.New("an invalid item")
			}
			raw, err := json.Marshal(item)
			if err != nil {
				return nil, err
			}
			var p storedPart
			if err := json.Unmarshal(raw, &p); err != nil {
				return nil, err
			}
			if affected.matchesPart(p) {
				if p.Source == "chunk" {
					continue
				}
				item["sha256"], item["bytes"] = "", 0
			}
			remaining = append(remaining, item)
		}
		section["items"] = remaining
	}
	if inputs, ok := m["inputs"].(map[string]any); ok {
		if id, _ := inputs["head_state"].(string); affected.ids[id] {
			delete(inputs, "head_shrunk")
		}
	}
	return chat.MarshalJSON(m)
}
