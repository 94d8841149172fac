package transfer

import (
	"bytes"
	"cmp"
	"encoding/json"
	"hash/maphash"
	"io"
	"slices"

	"contextinfinity/backend/chat"
)

// Forks knows the turns of sessions that were read, so that logs of forks and agents, which repeat the session that they
// continue, do not bring its turns again.
type Forks struct {
	seed  maphash.Seed
	turns map[string][]saidTurn // by session
}

// saidTurn are the hashes of the blocks of a turn.
type saidTurn struct{ question, answer []uint64 }

// NewForks returns Forks for files that are read together.
func NewForks() *Forks { return &Forks{seed: maphash.MakeSeed(), turns: map[string][]saidTurn{}} }

const noticeFork = "A session continues another one; the beginning, which is in that session, was left out."

// dropCopies removes the turns that a session repeats from the one that it continues. A repeated turn may be unfinished,
// and lack calls and reasoning.
func (f *Forks) dropCopies(d *draft) {
	if f == nil || d.Source != SourceCodex {
		return
	}
	own := make([]saidTurn, len(d.Turns))
	for i, t := range d.Turns {
		own[i].question = f.hashes(t.User.Blocks)
		if t.Assistant != nil {
			own[i].answer = f.hashes(t.Assistant.Blocks)
		}
	}
	f.turns[d.ID] = own
	before := f.turns[d.fork]
	if d.fork == "" || d.fork == d.ID {
		return
	}
	copies := 0
	for copies < len(own) {
		at := slices.IndexFunc(before, func(t saidTurn) bool {
			return slices.Equal(t.question, own[copies].question) && isWithin(own[copies].answer, t.answer)
		})
		if at < 0 {
			break
		}
		before, copies = before[at+1:], copies+1
	}
	if copies == 0 {
		return
	}
	current := slices.IndexFunc(d.Turns, func(t Turn) bool { return t.Key == d.Current })
	if d.Turns = d.Turns[copies:]; len(d.Turns) == 0 {
		return
	}
	d.Turns[0].Parent = ""
	if current < copies {
		d.Current = d.Turns[len(d.Turns)-1].Key
	}
	d.Notices = addNotice(d.Notices, noticeFork, 1)
}

// hashes returns the hashes of the visible blocks.
func (f *Forks) hashes(blocks chat.Blocks) []uint64 {
	var out []uint64
	for _, b := range blocks {
		switch b.(type) {
		case chat.Unknown, chat.Reasoning:
			continue
		}
		raw, _ := chat.Blocks{b}.MarshalJSON()
		out = append(out, maphash.Bytes(f.seed, raw))
	}
	return out
}

// isWithin reports whether the values of a are in b, in the same order.
func isWithin(a, b []uint64) bool {
	for _, v := range a {
		at := slices.Index(b, v)
		if at < 0 {
			return false
		}
		b = b[at+1:]
	}
	return true
}

// ForkOf returns the ids of a session of Codex and of the one that it continues, from the first line of its log; both are
// empty for another file.
func ForkOf(in Input) (id, parent string) {
	from, err := unpacked(in.Data, in.Size)
	if err != nil {
		return "", ""
	}
	return forkIn(from)
}

func forkIn(from io.Reader) (id, parent string) {
	head := make([]byte, 4*HeadBytes)
	n, _ := io.ReadFull(from, head) // an error occurs again when it is read
	line, _, _ := bytes.Cut(head[:n], []byte("\n"))
	var l codexLine
	var p codexPayload
	if json.Unmarshal(line, &l) != nil || l.Type != "session_meta" || json.Unmarshal(l.Payload, &p) != nil {
		return "", ""
	}
	spawned, _ := p.parent()
	return string(p.ID), cmp.Or(string(p.ForkedFrom), spawned)
}

// ForkOrder is the order of n files in which each session comes after the one that it continues.
func ForkOrder(n int, forkOf func(i int) (id, parent string)) []int {
	ids, parents := make([]string, n), map[string]string{}
	for i := range n {
		id, parent := forkOf(i)
		if ids[i] = id; id != "" && parent != "" {
			parents[id] = parent
		}
	}
	sorted := make([][]int, len(parents)+1)
	for i, id := range ids {
		depth := 0
		for depth < len(parents) && parents[id] != "" {
			id, depth = parents[id], depth+1
		}
		sorted[depth] = append(sorted[depth], i)
	}
	return slices.Concat(sorted...)
}
