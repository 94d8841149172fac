package cli

import (
	"context"
	"slices"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
)

func pinVerbs() []verb {
	return []verb{
		{
			use:   "pin SESSION [TEXT|-]",
			short: "Pin a fact that every request of a branch contains word for word",
			flags: []flag{branchFlag},
			prepare: func(_ context.Context, r *run) (err error) {
				r.input, err = r.typed(r.args[1:], "cli.pin", "fact")
				return err
			},
			opens: writes,
			do: func(ctx context.Context, r *run) (reply, error) {
				p, err := r.s.Pins.Add(ctx, r.branch.ID, r.input)
				return pinned(r.branch, p), err
			},
		},
		{
			use:   "pins SESSION",
			short: "List a branch's pinned facts, or what could be pinned",
			long: `Lists the pinned facts of a branch. With --suggested it lists standing instructions in your own
messages ("always", "never", "from now on", "I prefer") that could be pinned: --accept ID pins one,
with --text in other words, and --dismiss ID never suggests it again. Nothing is pinned automatically.`,
			flags: []flag{
				branchFlag,
				boolFlag("suggested", "list standing instructions that could be pinned"),
				nameFlag("accept", "pin the suggestion with this `ID`"),
				textFlag("text", "with --accept: pin this text instead"),
				nameFlag("dismiss", "never suggest the one with this `ID` again"),
			},
			prepare:  checkPins,
			opensFor: writesWith("accept", "dismiss"),
			do: func(ctx context.Context, r *run) (reply, error) {
				switch {
				case r.given("accept"), r.given("dismiss"):
					return changeSuggestion(ctx, r)
				case r.on("suggested"):
					return suggestions(ctx, r)
				}
				return r.s.pins(ctx, r.branch)
			},
		},
		{
			use:   "unpin SESSION PIN",
			short: "Remove a pinned fact from a branch's requests",
			long:  "Other branches that inherited the fact keep it.",
			flags: []flag{branchFlag},
			opens: writes,
			do: func(ctx context.Context, r *run) (reply, error) {
				id, err := r.s.unpin(ctx, r.branch.ID, r.args[1])
				return sentence(r.onBranch("pin_id", id), "Unpinned %s.", id), err
			},
		},
	}
}

func pinned(b chat.Branch, p chat.Pin) reply {
	return sentence(aboutBranch(b, "pin", p), "Pinned %s (%s).", p.ID, plural(p.Tokens, "token"))
}

func checkPins(_ context.Context, r *run) error {
	chosen := lists.Map([]string{"suggested", "accept", "dismiss"}, r.given)
	switch {
	case len(slices.DeleteFunc(chosen, func(on bool) bool { return !on })) > 1:
		return usagef("--suggested, --accept and --dismiss exclude each other.")
	case r.given("text") && !r.given("accept"):
		return usagef("--text needs --accept.")
	case r.given("accept"), r.given("dismiss"):
		_, err := parseID("suggestion", r.text("accept")+r.text("dismiss"))
		return err
	}
	return nil
}

func suggestions(ctx context.Context, r *run) (reply, error) {
	found, err := r.s.Pins.Suggested(ctx, r.branch.ID)
	t := tableOf("SUGGESTION|>TURN|INSTRUCTION", found, func(p chat.PinSuggestion) []any {
		return []any{p.ID, p.TurnSeq, clip(p.Text, 80)}
	})
	return reply{doc: r.onBranch("suggestions", found), text: func(o *output) {
		t.printOr(o, "Nothing to suggest.")
		o.printIf(len(found) > 0, "Pin one with: contextinfinity pins %s --accept SUGGESTION\n", r.session.ID)
	}}, err
}

// changeSuggestion accepts or dismisses a suggestion.
func changeSuggestion(ctx context.Context, r *run) (reply, error) {
	offered, err := r.s.Pins.Suggested(ctx, r.branch.ID)
	if err != nil {
		return reply{}, err
	}
	ids := lists.Map(offered, func(p chat.PinSuggestion) chat.SuggestionID { return p.ID })
	id, err := find("suggestion", r.text("accept")+r.text("dismiss"), ids)
	if err != nil {
		return reply{}, err
	}
	if r.given("dismiss") {
		doc := r.onBranch("suggestion", offered[slices.Index(ids, id)])
		return sentence(doc, "Dismissed %s.", id), r.s.Pins.Dismiss(ctx, r.branch.ID, id)
	}
	if err := checkText("cli.pin", "fact", r.text("text"), true); err != nil {
		return reply{}, err
	}
	p, err := r.s.Pins.Accept(ctx, r.branch.ID, id, r.text("text"))
	return pinned(r.branch, p), err
}

func (s *Services) pins(ctx context.Context, b chat.Branch) (reply, error) {
	found, err := s.Pins.Pins(ctx, b.ID)
	tokens := 0
	for _, p := range found {
		tokens += p.Tokens
	}
	doc := append(aboutBranch(b, "pins", found), field{"tokens", tokens})
	return listed(doc, "No pinned facts.", tableOf("PIN|>TOKENS|FACT", found, func(p chat.Pin) []any {
		return []any{p.ID, count(p.Tokens), clip(p.Text, 80)}
	})), err
}

func (s *Services) unpin(ctx context.Context, branch chat.BranchID, typed string) (chat.PinID, error) {
	pins, err := s.Pins.Pins(ctx, branch)
	if err != nil {
		return "", err
	}
	id, err := find("pin", typed, lists.Map(pins, func(p chat.Pin) chat.PinID { return p.ID }))
	if err != nil {
		return "", err
	}
	return id, s.Pins.Remove(ctx, branch, id)
}
