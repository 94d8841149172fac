package cli

import (
	"context"
	"slices"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/display"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/internal/untrusted"
)

func sessionsVerb() verb {
	return shows(verb{
		use:   "sessions",
		short: "List sessions, or arrange them",
		flags: []flag{
			boolFlag("archived", "list the archived sessions instead"),
			textFlag("title", "only those whose title contains this"),
			numberFlag("limit", 0, 0, "at most this many (0: all)"),
		},
		verbs: slices.Concat(changesOfSessions(), settingsOfSessions()),
	}, func(ctx context.Context, r *run) ([]chat.SessionSummary, error) {
		return r.s.Sessions.Sessions(ctx, chat.SessionQuery{
			Archived: r.on("archived"),
			Title:    r.text("title"),
			Limit:    r.number("limit"),
		})
	}, sessionList)
}

func changesOfSessions() []verb {
	return []verb{
		{
			use:   "rename SESSION TITLE",
			short: "Change a session's title",
			prepare: func(_ context.Context, r *run) error {
				return checkText("cli.sessions_rename", "title", r.args[1], false)
			},
			opens: writes,
			do: func(ctx context.Context, r *run) (reply, error) {
				return r.changed(ctx, "Renamed", r.s.Sessions.RenameSession(ctx, r.session.ID, r.args[1]))
			},
		},
		{
			use:   "archive SESSION",
			short: "Archive a session; nothing is deleted",
			opens: writes,
			do: func(ctx context.Context, r *run) (reply, error) {
				return r.changed(ctx, "Archived", r.s.Sessions.ArchiveSession(ctx, r.session.ID, true))
			},
		},
		{
			use:   "unarchive SESSION",
			short: "Unarchive a session",
			opens: writes,
			do: func(ctx context.Context, r *run) (reply, error) {
				return r.changed(ctx, "Unarchived", r.s.Sessions.ArchiveSession(ctx, r.session.ID, false))
			},
		},
		{
			use:   "folder SESSION [FOLDER]",
			short: "Put a session into a folder, or take it out",
			long: "Without FOLDER, the session is removed from its folder. A folder exists as long as it contains a " +
				"session.",
			prepare: readFolder,
			opens:   writes,
			do:      putIntoFolder,
		},
		{
			use:   "duplicate SESSION",
			short: "Copy a branch's history into a new session",
			long: "Nothing is shared with the original: later changes to one do not affect the other. A turn that is " +
				"still open is left out.",
			flags: []flag{branchFlag, textFlag("title", "the copy's title")},
			prepare: func(_ context.Context, r *run) error {
				return checkText("cli.sessions_duplicate", "title", r.text("title"), true)
			},
			opens: writes,
			do:    duplicateSession,
		},
	}
}

func settingsOfSessions() []verb {
	return []verb{
		{
			use:   "scope SESSION [SCOPE]",
			short: "Show or set the scope of a session's memory",
			long: `lineage is the branch's own past, session is all branches, project is the sessions and files of its
project, all is every session. default uses the project's scope, otherwise retrieval.scope. If neither is set, the built-in
model recall, which sends nothing, searches every session.`,
			prepare: func(_ context.Context, r *run) error {
				if scope := r.arg("SCOPE"); len(r.args) > 1 && scope != "default" && !slices.Contains(scopes, scope) {
					return usagef("SCOPE must be one of %s, default, not %q.", strings.Join(scopes, ", "), clip(scope, 40))
				}
				return nil
			},
			opensFor: func(r *run) access {
				if len(r.args) > 1 {
					return writes
				}
				return reads
			},
			do: scopeOfSession,
		},
		{
			use:      "title SESSION",
			short:    "Suggest a title from the conversation, without calling a model",
			flags:    []flag{boolFlag("set", "give the session this title")},
			opensFor: writesWith("set"),
			do:       suggestTitle,
		},
		{
			use:   "instructions SESSION",
			short: "Show a session's instructions and those that came with its import",
			long: `Prints the instructions of a session, and those that came with an imported conversation. The latter
are kept but not used, because they come from the imported file. With --adopt they become the session's own, which come
first in every request; you see them and are asked first, unless --yes is given.`,
			flags: []flag{boolFlag("adopt", "make the imported instructions the session's own"), yesFlag},
			prepare: func(_ context.Context, r *run) error {
				if !r.on("adopt") {
					return nil
				}
				return r.mustBeAsked("--adopt asks for confirmation, which is not possible here; nothing was changed.")
			},
			opensFor: writesWith("adopt"),
			do:       showInstructions,
		},
	}
}

// opensWith is for verbs that open something else with a flag.
func opensWith(flag string, with, without access) func(*run) access {
	return func(r *run) access {
		if on := r.cmd.Flags().Lookup(flag).Value.String(); on == "" || on == "false" {
			return without
		}
		return with
	}
}

// writesWith is for verbs that write if one of the flags is given, and otherwise read.
func writesWith(flags ...string) func(*run) access {
	return func(r *run) access {
		if slices.ContainsFunc(flags, r.given) {
			return writes
		}
		return reads
	}
}

func sessionList(found []chat.SessionSummary) reply {
	const headings = "SESSION|TITLE|>TURNS|>BRANCHES|>PENDING|STATUS|UPDATED"
	t := tableOf(headings, found, func(s chat.SessionSummary) []any {
		title := clip(titleOf(s.Title), 48)
		return []any{s.ID, title, count(s.Turns), count(s.Branches), count(s.Pending), statusOf(s), s.UpdatedAt}
	})
	return listed(fields{{"sessions", lists.Map(found, sessionRow)}}, "No sessions.", t)
}

func sessionRow(s chat.SessionSummary) fields {
	return fields{
		{"session_id", s.ID},
		{"title", s.Title},
		{"active_branch", s.ActiveBranch},
		{"branches", s.Branches},
		{"turns", s.Turns},
		{"pending", s.Pending},
		{"last_phase", s.LastPhase},
		{"last_outcome", s.LastOutcome},
		{"interrupted", s.Interrupted}, // the newest answer is neither final nor running
		{"unanswered", s.Unanswered},   // the newest message was imported without an answer
		{"model", s.Model},
		{"source", s.Source},
		{"pinned", s.Pinned},
		{"folder", s.Folder},
		{"created_at", s.CreatedAt},
		{"updated_at", s.UpdatedAt},
		{"archived_at", s.ArchivedAt},
	}
}

func titleOf(title string) string {
	if strings.TrimSpace(title) == "" {
		return "(untitled)"
	}
	return chat.BoundTitle(title)
}

// statusOf is a notable state of a session's newest turn, as one word.
func statusOf(s chat.SessionSummary) string {
	switch {
	case s.LastOutcome == chat.OutcomeIncomplete:
		return "incomplete"
	case s.Interrupted:
		return "interrupted"
	case s.Unanswered:
		return "no answer"
	case s.LastPhase == chat.PhaseFailed:
		return "failed"
	case s.LastPhase == chat.PhaseAccepted || s.LastPhase == chat.PhaseContextPrepared:
		return "not sent"
	case s.LastPhase == chat.PhaseResponding:
		return "responding"
	}
	return ""
}

// changed replies with the session after a change, which may have failed.
func (r *run) changed(ctx context.Context, done string, err error) (reply, error) {
	if err != nil {
		return reply{}, err
	}
	session, err := r.s.Sessions.Session(ctx, r.session.ID)
	return sentence(fields{{"session", session}}, "%s: %s  %s", done, session.ID, line(titleOf(session.Title))), err
}

func readFolder(_ context.Context, r *run) (err error) {
	if err := checkText("cli.sessions_folder", "folder", r.arg("FOLDER"), true); err != nil {
		return err
	}
	r.input, err = chat.FolderName(r.arg("FOLDER"))
	return err
}

func putIntoFolder(ctx context.Context, r *run) (reply, error) {
	done := "Taken out"
	if r.input != "" {
		done = "Put into " + line(r.input)
	}
	return r.changed(ctx, done, r.s.Sessions.SetFolder(ctx, []chat.SessionID{r.session.ID}, r.input))
}

func duplicateSession(ctx context.Context, r *run) (reply, error) {
	copied, err := r.s.Sessions.Duplicate(ctx, r.branch.ID, r.text("title"))
	doc := fields{
		{"session", copied.Session},
		{"turns", copied.Turns},
		{"left_out", copied.LeftOut}, // turns that are still open
	}
	return reply{doc: doc, text: func(o *output) {
		title := line(titleOf(copied.Session.Title))
		o.printf("Copied %s: %s  %s\n", plural(copied.Turns, "turn"), copied.Session.ID, title)
		o.printIf(copied.LeftOut > 0, "%d turn that is still open was left out.\n", copied.LeftOut)
	}}, err
}

func scopeOfSession(ctx context.Context, r *run) (reply, error) {
	if len(r.args) > 1 {
		scope := chat.Scope(r.args[1])
		if scope == "default" {
			scope = ""
		}
		err := r.s.Sessions.ChangeSettings(ctx, r.session.ID, func(v *chat.SessionSettings) { v.MemoryScope = scope })
		if err != nil {
			return reply{}, err
		}
		r.session.MemoryScope = scope
	}
	own := r.session.MemoryScope
	_, inEffect, err := r.s.Turns.ProjectScope(ctx, r.session, "")
	shown := string(inEffect)
	if own == "" {
		shown += " (default)"
	}
	return sentence(fields{{"session_id", r.session.ID}, {"own", own}, {"scope", inEffect}}, "%s", shown), err
}

func suggestTitle(ctx context.Context, r *run) (reply, error) {
	title, err := r.s.Sessions.SuggestTitle(ctx, r.session.ID)
	if err != nil {
		return reply{}, err
	}
	set := r.on("set") && title != ""
	if set {
		if err := r.s.Sessions.RenameSession(ctx, r.session.ID, title); err != nil {
			return reply{}, err
		}
		if r.session, err = r.s.Sessions.Session(ctx, r.session.ID); err != nil {
			return reply{}, err
		}
	}
	shown := line(title)
	if title == "" {
		shown = "There are no turns yet."
	}
	return sentence(fields{{"session", r.session}, {"suggested", title}, {"set", set}}, "%s", shown), nil
}

// instructions are those that a session uses, and those that came with its import.
type instructions struct {
	Session  chat.SessionID `json:"session_id"`
	Source   string         `json:"source"`
	Own      string         `json:"system_prompt"` // empty: the default instructions
	Imported string         `json:"imported"`      // empty: none
	Adopted  bool           `json:"adopted"`
}

func showInstructions(ctx context.Context, r *run) (reply, error) {
	first, err := r.s.Store.Lineage(ctx, chat.LineageQuery{Branch: r.branch.ID, Limit: 1})
	if err != nil {
		return reply{}, err
	}
	in := instructions{Session: r.session.ID, Source: r.session.Source, Own: r.session.SystemPrompt}
	if len(first) > 0 {
		in.Imported = untrusted.Visible(chat.ImportedInstructions(first[0])) // exactly what the user reads is adopted
	}
	in.Adopted = in.Imported != "" && in.Own == in.Imported
	if r.on("adopt") {
		return r.adopt(ctx, in)
	}
	return reply{doc: in, text: in.print}, nil
}

// adopt makes the imported instructions the session's own, after the user has seen them.
func (r *run) adopt(ctx context.Context, in instructions) (reply, error) {
	const op = "cli.instructions"
	if in.Imported == "" {
		return reply{}, chat.Errorf(chat.CodeInvalid, op, "No instructions came with this session; nothing was changed.")
	}
	if err := r.s.Turns.CheckInstructions(ctx, in.Session, in.Imported); err != nil {
		return reply{}, err
	}
	if !r.on("yes") {
		const question = "Make the imported instructions the session's own, sent first in every request? [y/N] "
		in.print(r.note)
		if err := r.ask(op, question); err != nil {
			return reply{}, err
		}
	}
	if err := r.s.Sessions.SetSystemPrompt(ctx, in.Session, in.Imported); err != nil {
		return reply{}, err
	}
	in.Own, in.Adopted = in.Imported, true
	return sentence(in, "The imported instructions are the session's own now, from the next message on."), nil
}

func (r instructions) print(o *output) {
	if r.Own == "" {
		o.printf("Instructions: the default ones.\n")
	} else {
		o.printf("Instructions:\n%s\n", block(r.Own))
	}
	if r.Imported == "" {
		o.printf("There are no imported instructions.\n")
		return
	}
	source := line(r.Source)
	if r.Adopted {
		o.printf("These are the instructions that came with the import (%s).\n", source)
		return
	}
	o.printf("Instructions that came with the import (%s), which are not used unless you adopt them:\n%s\n",
		source, block(r.Imported))
}

// block indents a text of several lines, so that it cannot be mistaken for output of this program.
func block(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, l := range lines {
		lines[i] = "    " + display.Visible(l)
	}
	return strings.Join(lines, "\n")
}
