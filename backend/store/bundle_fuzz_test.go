package store

import (
	"bytes"
	"encoding/json"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
)

// FuzzImportBundle changes the payloads of events and rebuilds the hash chain, so that only the content can be wrong.
// Each bundle is either refused with a reason, or the imported session passes verify and can be exported again.
func FuzzImportBundle(f *testing.F) {
	b, _ := small(f)
	e := rawEntries(f, b)
	var payloads [][]byte
	rewrite(f, e, func(l *lineOf) bool {
		payloads = append(payloads, l.Payload)
		return true
	})
	for i, p := range payloads {
		f.Add(uint8(i), "", "", p)
	}
	f.Add(uint8(3), string(ledger.EventContentDeleted), "", []byte(`{"v":1,"data":{"receipt":"01KDYAK348M6KSDC06SG2A2KN5","events":[],"files":["x"]}}`))
	f.Add(uint8(9), string(ledger.EventCalibrationSet), "p/m", []byte(`{"v":1,"data":{"provider":"p","model_id":"m","factor":1.1,"samples":3,"revision":9}}`))
	f.Add(uint8(9), string(ledger.EventSessionImported), "", []byte(`{"v":1,"data":{"updated_at":"2026-01-02T03:04:05.000Z"}}`))
	f.Add(uint8(9), string(ledger.EventBranchArchived), "../x", []byte(`{"v":1,"data":{"on":true}}`))
	store := newFixture(f)
	f.Fuzz(func(t *testing.T, at uint8, kind, entity string, payload []byte) {
		n := 0
		changed := rewrite(t, e, func(l *lineOf) bool {
			if n++; n != int(at)%len(payloads)+1 {
				return true
			}
			if kind != "" {
				l.Type = ledger.Type(kind)
			}
			if entity != "" {
				l.Entity = entity
			}
			if json.Valid(payload) && !bytes.ContainsAny(payload, "\r\n") {
				l.Payload = payload
			}
			return true
		})
		bundle := packed(t, changed)
		g := *store
		g.TB = t
		got, _, err := g.ImportBundle(g.ctx, bytes.NewReader(bundle), int64(len(bundle)), "")
		if err != nil {
			switch chat.CodeOf(err) {
			case chat.CodeCorrupt, chat.CodeInvalid, chat.CodeNewer:
				return
			}
			t.Fatalf("an error of code %q: %v: %v", chat.CodeOf(err), err, chat.AsError(err).Err)
		}
		g.verifyClean()
		if got.Outcome == chat.ImportCreated || got.Outcome == chat.ImportCopied {
			g.bundled(got.Session)
			_, err = g.Delete(g.ctx, chat.DeletionSession, string(got.Session))
			g.ok(err)
		}
	})
}
