package cli

import (
	"context"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/prompt"
	"contextinfinity/backend/turn"
)

// switchReply is the effect of sending a conversation to another model.
type switchReply struct {
	SessionID          chat.SessionID        `json:"session_id"`
	BranchID           chat.BranchID         `json:"branch_id"`
	Model              string                `json:"model"`
	Kind               prompt.AdaptationKind `json:"kind"`
	OldCeiling         int                   `json:"old_ceiling"`
	NewCeiling         int                   `json:"new_ceiling"`
	OldTokens          int                   `json:"old_tokens"`
	NewTokens          int                   `json:"new_tokens"`
	Returning          int                   `json:"returning"`
	Compressed         int                   `json:"compressed"`
	NeedsSummarization bool                  `json:"needs_summarization"`
	Unsummarized       int                   `json:"unsummarized"`
	Dropped            int                   `json:"dropped"` // pending turns left out
	Fits               bool                  `json:"fits"`    // false: Message says why not
	Message            string                `json:"message"`
}

func newSwitchReply(b chat.Branch, model string, s turn.Switch) switchReply {
	return switchReply{
		SessionID: b.SessionID, BranchID: b.ID, Model: model, Kind: s.Kind, OldCeiling: s.From, NewCeiling: s.To,
		OldTokens: s.OldTokens, NewTokens: s.NewTokens, Returning: s.Returning, Compressed: s.Compressed,
		NeedsSummarization: s.NeedsSummarization(), Unsummarized: s.Unsummarized, Dropped: s.Dropped, Fits: s.Refused == nil, Message: s.String(),
	}
}

func (c *call) previewSwitch(ctx context.Context, session, model string) (reply, error) {
	return c.reading(ctx, func(s *Services) (reply, error) {
		b, err := s.branchToSwitch(ctx, session)
		if err != nil {
			return reply{}, err
		}
		change, err := s.Turns.PreviewSwitch(ctx, b.ID, "", model)
		doc := newSwitchReply(b, model, change)
		return reply{doc: doc, text: doc.print}, err
	})
}

// branchToSwitch finds the active branch of the named session, or of the one used last.
func (s *Services) branchToSwitch(ctx context.Context, session string) (chat.Branch, error) {
	if session != "" {
		_, b, err := s.place(ctx, session, "")
		return b, err
	}
	last, ok, err := s.recent(ctx)
	if err != nil {
		return chat.Branch{}, err
	}
	if !ok {
		return chat.Branch{}, chat.Errorf(chat.CodeNotFound, "cli.models", "There is no session to switch.").
			WithHint("start one with send or chat")
	}
	return s.Sessions.Branch(ctx, last.ActiveBranch)
}

func (r switchReply) print(o *output) {
	o.printf("Now %s of %s tokens; with %s %s of %s.\n", count(r.OldTokens), count(r.OldCeiling), line(r.Model), count(r.NewTokens), count(r.NewCeiling))
	o.printf("%s\n", line(r.Message))
}
