package transfer

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
)

// plain collects the messages of one conversation.
type plain struct {
	d         *draft
	nodes     []node
	messages  []plainMessage
	sessions  []string
	raw       map[int]json.RawMessage // messages with an unknown role
	knownRole bool                    // some message has a known role
}

func newPlain(source Source, id string) *plain {
	p := &plain{d: newDraft(source), raw: map[int]json.RawMessage{}}
	p.d.ID = id
	return p
}

// add adds a message, or says why it is not one.
func (p *plain) add(raw json.RawMessage) string {
	n, m, ok := plainNode(p.d.Source, raw)
	if !ok {
		return "It does not name a speaker."
	}
	p.d.Title = cmp.Or(p.d.Title, string(m.Title))
	if p.knownRole = p.knownRole || m.Role != "" && !m.unknownRole; m.unknownRole {
		p.raw[len(p.nodes)] = bytes.Clone(raw)
	}
	p.put(n, m)
	return ""
}

func (p *plain) put(n node, m plainMessage) {
	date, _ := textOf(m.Date)
	p.nodes, p.messages, p.sessions = append(p.nodes, n), append(p.messages, m), append(p.sessions, string(m.Session)+"\x00"+date)
}

// done is the draft of the collected messages.
func (p *plain) done() *draft {
	p.unknownRoles()
	pairPeople(p.nodes, p.sessions)
	for i, n := range p.nodes {
		p.d.thread(n, p.messages[i])
	}
	return p.d
}

// byteRange is the position of a value, or of consecutive lines, in a file.
type byteRange struct{ from, to int64 }

// plain reads a file with one message per line. Lines of one conversation need not be consecutive: the file is read
// once to find the ranges of each conversation, and then again one conversation after the other. Lines without a
// conversation form one without a name.
func (r *run) plain(in Input, _ io.Reader) error {
	order, where, err := r.conversationRanges(in)
	if err != nil {
		return err
	}
	for i, id := range order {
		p := newPlain(SourceJSONL, id)
		var size int64
		for _, s := range where[id] {
			if size += s.to - s.from; size > MaxEntryBytes {
				p.d.skip = tooLargeEntry(MaxEntryBytes)
				break
			}
			if err := r.readRange(p, in, s); err != nil {
				return err
			}
		}
		if err := r.take(p.done(), i, where[id][0].from); err != nil {
			return err
		}
	}
	return nil
}

// conversationRanges finds the ranges of each conversation, in the order in which conversations begin, and reports
// lines that are not messages.
func (r *run) conversationRanges(in Input) (order []string, where map[string][]byteRange, err error) {
	var uncounted int64 // bytes that are read twice count once
	l := newLineReader(&counted{ctx: r.ctx, r: io.NewSectionReader(in.Data, 0, in.Size), n: &uncounted, onRead: func() {}})
	where = map[string][]byteRange{}
	before := ""
	err = r.each(l, func(e element) ([]*draft, string) {
		var m plainMessage
		if json.Unmarshal(e.raw, &m) != nil {
			return nil, "Not a message."
		} else if m.Role == "" && m.Speaker == "" {
			return nil, "It does not name a speaker."
		}
		id := m.conversation()
		at := where[id]
		switch {
		case at == nil:
			order = append(order, id)
			where[id] = []byteRange{{e.offset, l.at}}
		case before == id:
			at[len(at)-1].to = l.at
		default:
			where[id] = append(at, byteRange{e.offset, l.at})
		}
		before = id
		return nil, ""
	})
	return order, where, err
}

// readRange reads a range again. Invalid lines in it were reported already.
func (r *run) readRange(p *plain, in Input, s byteRange) error {
	l := newLineReader(r.count(io.NewSectionReader(in.Data, s.from, s.to-s.from)))
	for {
		e, err := l.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return r.ended(err, s.from+e.offset)
		}
		if e.check(); e.reason == "" && p.add(e.raw) == "" {
			p.d.repaired.add(e.fixed)
		}
	}
}
