package bundles

import (
	"context"
	"crypto/sha256"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/events"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/transfer/bundle"
)

// source is the ledger of a session, in order, with the contents that its events name.
type source interface {
	Read(do func(ledger.Event, []bundle.Content) error) (torn bool, err error)
}

// validate checks a ledger on its own, or one that continues what made a state.
func validate(ctx context.Context, from source, session chat.SessionID, state *ledger.State) (in *incoming, err error) {
	in = &incoming{
		ctx: ctx, from: from, session: string(session), state: state, gone: map[string]bool{},
		lanes: map[string][][sha256.Size]byte{}, machines: map[string]string{}, entities: map[string]bool{},
	}
	if state == nil {
		in.state = ledger.NewState(string(session))
	}
	in.before = in.state.EventSeq
	documents := map[chat.FileID]int64{} // named by messages -> the event
	in.torn, err = from.Read(func(e ledger.Event, _ []bundle.Content) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := in.state.Apply(e); err != nil {
			return invalidBundle("event %d cannot be replayed: %v", e.Seq, err)
		}
		in.hashes = append(in.hashes, [sha256.Size]byte(e.Hash))
		if state != nil {
			in.entities[e.Entity] = true
		}
		in.lanes[e.Lane] = append(in.lanes[e.Lane], [sha256.Size]byte(e.Hash))
		switch e.Type {
		case ledger.EventFileAdded:
			in.gone[e.Entity] = true
		case ledger.EventContentDeleted:
			in.deleted = e.Seq
			return inPayload(e, func(d ledger.ContentDeleted) {
				in.deletions = append(in.deletions, deletion{e.Lane, len(in.lanes[e.Lane]), d.Files})
			})
		case ledger.EventBranchCreated:
			return inPayload(e, func(d ledger.BranchCreated) { in.machines[e.Entity] = d.Machine })
		}
		return documentsIn(e, documents)
	})
	if err != nil {
		return nil, err
	}
	if len(in.state.Sessions) != 1 {
		return nil, invalidBundle("none of its events creates the session")
	}
	if fault := outsideReference(in.state); fault != "" {
		return nil, invalidBundle("%s", fault)
	}
	for id := range in.state.Files {
		delete(in.gone, id)
	}
	for id, seq := range documents {
		if in.state.Files[string(id)] == nil && !in.gone[string(id)] {
			return nil, invalidBundle("event %d names a document that does not belong to the session", seq)
		}
	}
	return in, nil
}

// inPayload calls do with an event's decoded payload.
func inPayload[P any](e ledger.Event, do func(P)) error {
	_, err := events.PayloadOf(e, func(_ ledger.Event, p P) (struct{}, error) { do(p); return struct{}{}, nil })
	return err
}

// documentsIn records the documents that a message names.
func documentsIn(e ledger.Event, into map[chat.FileID]int64) error {
	if e.Type != ledger.EventTurnAccepted {
		return nil
	}
	_, err := events.PayloadOf(e, func(e ledger.Event, d ledger.TurnAccepted) (struct{}, error) {
		m, err := schema.DecodeMessage(chat.RoleUser, string(d.User))
		if err != nil {
			return struct{}{}, invalidBundle("the message of event %d cannot be read", e.Seq)
		}
		for _, b := range m.Blocks.Documents() {
			if b.File != "" {
				into[b.File] = e.Seq
			}
		}
		return struct{}{}, nil
	})
	return err
}
