package cli

import (
	"context"
	"slices"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/inspecting"
	"contextinfinity/backend/internal/display"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/transfer/render"
)

func branchVerbs() []verb {
	return []verb{
		{
			use:   "branches SESSION",
			short: "List a session's branches, or archive one",
			flags: []flag{boolFlag("archived", "include archived ones")},
			opens: reads,
			do:    listBranches,
			verbs: []verb{
				{
					use:   "archive BRANCH",
					short: "Archive a branch; nothing is deleted",
					opens: writes,
					do: func(ctx context.Context, r *run) (reply, error) {
						return r.s.about(ctx, r.branch, "Archived", r.s.Branches.Archive(ctx, r.branch.ID, true))
					},
				},
				{
					use:   "unarchive BRANCH",
					short: "Unarchive a branch",
					opens: writes,
					do: func(ctx context.Context, r *run) (reply, error) {
						return r.s.about(ctx, r.branch, "Unarchived", r.s.Branches.Archive(ctx, r.branch.ID, false))
					},
				},
			},
		},
		{
			use:   "fork TURN",
			short: "Start a branch after a turn",
			long: `The new branch shares everything up to TURN. A turn that is still pending is
committed first. The session's active branch does not change unless --switch is given.`,
			flags: []flag{
				boolFlag("before", "leave the turn itself out, to ask it differently"),
				boolFlag("switch", "make the new branch the active one"),
				textFlag("label", "the branch's name"),
			},
			prepare: func(_ context.Context, r *run) error { return checkText("cli.fork", "label", r.text("label"), true) },
			opens:   writes,
			do:      fork,
		},
		{
			use:   "rollback SESSION --to STATE | --turn TURN",
			short: "Go back to an earlier state on a new branch; nothing is deleted",
			long: `With --turn instead of --to, the new branch ends with a turn of the active branch; a pending one is
committed first.`,
			flags: []flag{
				nameFlag("to", "the `STATE` to go back to (contextinfinity states lists them)"),
				nameFlag("turn", "the `TURN` that the new branch ends with, instead of a state"),
			},
			prepare: checkTarget,
			opens:   writes,
			do:      rollback,
		},
		{
			use:   "switch SESSION BRANCH",
			short: "Make a branch the active one",
			opens: writes,
			do: func(ctx context.Context, r *run) (reply, error) {
				err := r.s.Branches.Switch(ctx, r.session.ID, r.branch.ID)
				return r.s.about(ctx, r.branch, "Switched to", err)
			},
		},
		{
			use:   "states SESSION",
			short: "List a branch's committed states and how each was checked, newest first",
			long: "A state is the summary of the turns so far that is sent to the model. " +
				"contextinfinity rollback SESSION --to STATE goes back to one.",
			flags: []flag{branchFlag},
			opens: reads,
			do:    listStates,
		},
	}
}

// checkTarget refuses a rollback without one place to go back to.
func checkTarget(_ context.Context, r *run) error {
	switch {
	case r.given("to") && r.given("turn"):
		return usagef("--to and --turn exclude each other.")
	case !r.given("to") && !r.given("turn"):
		hint := "contextinfinity states " + clip(r.args[0], 26) + " lists them"
		return usageHint(hint, "--to STATE is missing.")
	}
	return nil
}

func listBranches(ctx context.Context, r *run) (reply, error) {
	all, err := r.s.Sessions.Branches(ctx, r.session.ID)
	all = slices.DeleteFunc(all, func(b chat.BranchSummary) bool { return b.ArchivedAt != nil && !r.on("archived") })
	return branchList(r.session, all), err
}

func branchList(session chat.Session, all []chat.BranchSummary) reply {
	rows := render.BranchRows(session, all)
	t := tableOf("|BRANCH|LABEL|>FORKED AFTER|>TURNS|>PENDING|HEAD|UPDATED", rows, func(b render.BranchRow) []any {
		mark, fork := "", ""
		switch {
		case b.Archived:
			mark = "-"
		case b.Active:
			mark = "*"
		}
		if b.Parent != "" {
			fork = "#" + decimal(b.ForkSeq)
		}
		head := headOf(b.HeadSeq, b.HeadState)
		return []any{mark, b.ID, clip(b.Label, 32), fork, count(b.Turns), count(b.Pending), head, b.UpdatedAt}
	})
	return reply{doc: fields{{"session_id", session.ID}, {"branches", rows}}, text: t.print}
}

// headOf formats a head for people: its state_seq and short id.
func headOf(seq int64, id chat.StateID) string { return "#" + decimal(seq) + " " + chat.ShortID(id) }

// about replies with a branch after a change, which may have failed.
func (s *Services) about(ctx context.Context, b chat.Branch, done string, err error) (reply, error) {
	if err != nil {
		return reply{}, err
	}
	session, err := s.Sessions.Session(ctx, b.SessionID)
	if err != nil {
		return reply{}, err
	}
	covers, err := s.Inspecting.StateTurnSeq(ctx, b.HeadState)
	doc := fields{
		{"session_id", b.SessionID},
		{"branch_id", b.ID},
		{"label", b.Label},
		{"active", session.ActiveBranch == b.ID},
		{"head_state", b.HeadState},
		{"head_seq", b.HeadSeq},
		{"head_turn_seq", covers},
	}
	return sentence(doc, "%s %s (%s), head %s.", done, b.ID, line(b.Label), headOf(b.HeadSeq, b.HeadState)), err
}

func fork(ctx context.Context, r *run) (reply, error) {
	from := r.s.Branches.After
	if r.on("before") {
		from = r.s.Branches.Before
	}
	b, err := from(ctx, r.turn.ID, r.text("label"), r.on("switch"))
	return r.s.about(ctx, b, "New branch", err)
}

func rollback(ctx context.Context, r *run) (_ reply, err error) {
	var b chat.Branch
	if r.turn.ID != "" {
		b, err = r.s.Branches.RollbackTo(ctx, r.session.ActiveBranch, r.turn.ID)
	} else {
		b, err = byID(ctx, r.s, "state", r.session.ID, r.text("to"), func(ctx context.Context, id chat.StateID) (chat.Branch, error) {
			return r.s.Branches.Rollback(ctx, r.session.ID, id)
		})
	}
	if err != nil {
		return reply{}, err
	}
	return r.s.rolledBack(ctx, b, r.session.ActiveBranch)
}

// rolledBack describes the branch that a rollback created, and how many later turns stay on the previous one.
func (s *Services) rolledBack(ctx context.Context, created chat.Branch, previous chat.BranchID) (reply, error) {
	r, err := s.about(ctx, created, "Rolled back; new branch", nil)
	if err != nil {
		return r, err
	}
	branches, err := s.Sessions.Branches(ctx, created.SessionID)
	var before, after chat.BranchSummary
	for _, b := range branches {
		switch b.ID {
		case previous:
			before = b
		case created.ID:
			after = b
		}
	}
	text := r.text
	r.text = func(o *output) {
		text(o)
		if later := before.Turns - after.Turns; later > 0 {
			stay := display.Count(later, "later turn stays", "later turns stay")
			o.printf("%s on %s; \"switch\" goes back to it.\n", stay, line(before.Label))
		}
	}
	return r, err
}

func listStates(ctx context.Context, r *run) (reply, error) {
	all, err := r.s.Inspecting.StatesOf(ctx, r.branch)
	rows := lists.Map(all, func(st inspecting.State) fields {
		return append(fields{
			{"state_id", st.ID},
			{"state_seq", st.Seq},
			{"head", st.Head},
			{"turn_seq", st.Covers}, // the last turn that it covers, 0 for the root
			{"origin", st.Origin},
			{"model", st.Model},
			{"token_count_est", st.TokenCount},
			{"summary", st.Summary},
			{"created_at", st.CreatedAt},
		}, checkFields(chat.CheckOf(st.Origin, st.Validation))...)
	})
	t := tableOf("|STATE|>SEQ|>COVERS TO|ORIGIN|CHECK|>TOKENS|CREATED", all, func(st inspecting.State) []any {
		mark := map[bool]string{true: "*"}[st.Head]
		check, covers := checkWords(chat.CheckOf(st.Origin, st.Validation)), "#"+decimal(st.Covers)
		return []any{mark, st.ID, st.Seq, covers, st.Origin, check, st.TokenCount, st.CreatedAt}
	})
	return reply{doc: r.onBranch("states", rows), text: t.print}, err
}

// onBranch returns a document about the session and the branch, with one more field.
func (r *run) onBranch(name string, value any) fields { return aboutBranch(r.branch, name, value) }

func aboutBranch(b chat.Branch, name string, value any) fields {
	return fields{{"session_id", b.SessionID}, {"branch_id", b.ID}, {name, value}}
}

func checkFields(c chat.StateCheck) fields {
	return fields{
		{"check", c.Result},
		{"tries", c.Tries},
		{"reason", c.Reason},
		{"missing", c.Missing},
		{"added", c.Added},
	}
}

// checkWords describes a state summary's check in a table: "repaired: 2 added, 1 attempt".
func checkWords(c chat.StateCheck) string {
	attempts := display.Count(c.Tries, "attempt", "attempts")
	switch c.Result {
	case chat.CheckPassed:
		return "passed, " + attempts
	case chat.CheckRepaired:
		return "repaired: " + decimal(len(c.Added)) + " added, " + attempts
	case chat.CheckFailed:
		return "failed after " + attempts + ": " + clip(c.Reason, 40)
	}
	return ""
}
