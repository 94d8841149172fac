package bundle

import (
	"archive/zip"
	"bufio"
	"cmp"
	"errors"
	"io"
	"iter"
	"maps"
	"slices"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
)

// names of the entries, in the order in which they are written.
const (
	metaName     = "meta.json"
	eventsName   = "events.ndjson"
	contentsName = "contents.zst"
	snapshotName = "snapshot.json"
	indexName    = "index.json"
)

// Session is what a bundle contains, as of one moment. Events and Contents are read once, in order.
type Session struct {
	Meta     Meta
	Events   iter.Seq2[ledger.Event, error]
	Contents iter.Seq2[Content, error]
	Snapshot ledger.Snapshot // after the last event
}

// Write writes a bundle. It fails if the events are not consecutive up to the last one in Meta; what was written then
// is not a bundle.
func Write(w io.Writer, s Session) error {
	z := zip.NewWriter(w)
	meta, err := s.Meta.encode()
	if err != nil {
		return err
	}
	if err := entry(z, metaName, zip.Deflate, func(w io.Writer) error { _, err := w.Write(meta); return err }); err != nil {
		return err
	}
	accepted := map[string]int64{}
	if err := entry(z, eventsName, zip.Deflate, func(w io.Writer) error { return s.writeEvents(w, accepted) }); err != nil {
		return err
	}
	if err := entry(z, contentsName, zip.Store, s.writeContents); err != nil {
		return err
	}
	snapshot, err := s.Snapshot.Encode()
	if err != nil {
		return err
	}
	if err := entry(z, snapshotName, zip.Deflate, func(w io.Writer) error { _, err := w.Write(snapshot); return err }); err != nil {
		return err
	}
	if err := entry(z, indexName, zip.Deflate, func(w io.Writer) error { return s.writeIndex(w, accepted) }); err != nil {
		return err
	}
	return z.Close()
}

// entry writes an entry without a time, so that equal sessions are equal files.
func entry(z *zip.Writer, name string, method uint16, write func(io.Writer) error) error {
	f, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: method})
	if err != nil {
		return err
	}
	b := bufio.NewWriterSize(f, 64<<10)
	if err := write(b); err != nil {
		return err
	}
	return b.Flush()
}

// writeEvents also records where turns were accepted, for the index.
func (s Session) writeEvents(w io.Writer, accepted map[string]int64) error {
	tails, payloads, last := ledger.Tails{}, newPayloadCheck(), int64(0)
	damaged := func(seq int64) error {
		return chat.Errorf(chat.CodeCorrupt, "bundle.write", "Event %d of the session is damaged, so it was not exported.", seq).
			WithHint("run verify to see what is damaged; a backup may contain it")
	}
	for e, err := range s.Events {
		if err != nil {
			return err
		}
		if faults := tails.Follow(e); len(faults) > 0 || e.Seq != last+1 {
			return damaged(e.Seq)
		}
		last = e.Seq
		payloads.add(e)
		if e.Type == ledger.EventTurnAccepted {
			accepted[e.Entity] = e.Seq
		}
		b, err := encodeEvent(e)
		if err != nil {
			return err
		}
		if _, err := w.Write(append(b, '\n')); err != nil {
			return err
		}
	}
	if seq := payloads.fault(); seq > 0 {
		return damaged(seq)
	}
	if last != s.Meta.Head.EventSeq {
		return errors.New("bundle: the events do not end where they should")
	}
	return nil
}

func (s Session) writeContents(w io.Writer) error {
	c, err := newContentWriter(w)
	if err != nil {
		return err
	}
	for content, err := range s.Contents {
		if err == nil {
			err = c.write(content)
		}
		if err != nil {
			return errors.Join(err, c.z.Close())
		}
	}
	return c.z.Close()
}

// index lists what the bundle contains: a derived cache (ZIG 3).
type index struct {
	SchemaVersion int             `json:"schema_version"`
	EventSeq      int64           `json:"event_seq"`
	Branches      []indexBranch   `json:"branches"`
	Turns         []indexTurn     `json:"turns"`
	Documents     []indexDocument `json:"documents"`
}

type indexBranch struct {
	ID     string `json:"branch_id"`
	Parent string `json:"parent_branch"`
	Turns  int    `json:"turns"` // of this branch
}

type indexTurn struct {
	ID     string `json:"turn_id"`
	Branch string `json:"branch_id"`
	Seq    int64  `json:"turn_seq"`
	At     int64  `json:"event_seq"` // the event that accepted the turn
}

type indexDocument struct {
	ID   string `json:"file_id"`
	Turn string `json:"turn_id"`
	Size int64  `json:"size"`
}

func (s Session) writeIndex(w io.Writer, accepted map[string]int64) error {
	state := s.Snapshot.State
	x := index{SchemaVersion: s.Meta.version(), EventSeq: s.Meta.Head.EventSeq, Branches: []indexBranch{}, Turns: []indexTurn{}, Documents: []indexDocument{}}
	own := map[string]int{}
	for id, t := range state.Turns {
		own[t.BranchID]++
		x.Turns = append(x.Turns, indexTurn{id, t.BranchID, t.Seq, accepted[id]})
	}
	slices.SortFunc(x.Turns, func(a, b indexTurn) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.ID, b.ID)) })
	for _, id := range slices.Sorted(maps.Keys(state.Branches)) {
		x.Branches = append(x.Branches, indexBranch{id, state.Branches[id].ParentBranch, own[id]})
	}
	for _, id := range slices.Sorted(maps.Keys(state.Files)) {
		x.Documents = append(x.Documents, indexDocument{id, state.Files[id].TurnID, state.Files[id].Size})
	}
	b, err := chat.MarshalJSON(x)
	if err == nil {
		_, err = w.Write(append(b, '\n'))
	}
	return err
}
