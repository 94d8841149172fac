package exporting

import (
	"cmp"
	"context"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/transfer/render"
)

// selection is the session, or part of one, to export.
type selection struct {
	scope    Scope
	format   Format
	all      bool // all branches
	session  chat.Session
	branch   chat.BranchSummary
	branches []chat.BranchSummary
	chapters []render.Chapter
	turn     chat.Turn // of ScopeTurn
	open     int       // turns left out
	quotes   bool      // a bundle includes requests that quoted other conversations
	running  bool      // some turns are unfinished, so a later export will differ
}

// turns returns how many turns to write.
func (s selection) turns() int {
	n := -s.open
	for _, c := range s.chapters {
		n += c.Turns
	}
	return n
}

// choose determines the scope and the format of a request.
func (e *Exporter) choose(r Request) (Scope, Format, error) {
	const op = "export.choose"
	switch r.Scope {
	case ScopeTurn, ScopeBranch, ScopeSession, ScopeAll:
	default:
		return "", "", chat.Errorf(chat.CodeInvalid, op, "There is no scope %q; nothing was exported.", r.Scope).WithHint("one of: turn, branch, session, all")
	}
	part := r.Scope == ScopeTurn || r.Scope == ScopeBranch
	format := r.Format
	if format == "" {
		if format = e.Format(); format == FormatBundle && part {
			format = FormatMarkdown
		}
	}
	switch format {
	case FormatMarkdown, FormatJSON, FormatHTML:
	case FormatBundle:
		if part {
			return "", "", chat.Errorf(chat.CodeInvalid, op, "A bundle contains a whole session with all its branches; nothing was exported.").
				WithHint("export the session, or the %s as md, json or html", r.Scope)
		}
	default:
		return "", "", chat.Errorf(chat.CodeInvalid, op, "There is no format %q; nothing was exported.", format).WithHint("one of: bundle, md, json, html")
	}
	return r.Scope, format, nil
}

// find resolves a request for one session, or a part of it.
func (e *Exporter) find(ctx context.Context, r Request) (selection, error) {
	scope, format, err := e.choose(r)
	if err != nil {
		return selection{}, err
	}
	s := selection{scope: scope, format: format, quotes: r.Quotes, all: scope == ScopeSession && (r.AllBranches || format == FormatBundle)}
	if err := e.findSession(ctx, r, &s); err != nil {
		return s, err
	}
	switch {
	case s.all:
		for _, b := range s.branches {
			s.chapters = append(s.chapters, render.Chapter{Branch: b, From: b.ForkSeq + 1, Turns: b.Own()})
		}
	case scope == ScopeTurn:
		s.chapters = []render.Chapter{{Branch: s.branch, From: s.turn.Seq, To: s.turn.Seq, Turns: 1}}
	default:
		s.chapters = []render.Chapter{{Branch: s.branch, Turns: s.branch.Turns}}
	}
	if err := e.findOpen(ctx, &s); err != nil {
		return s, err
	}
	if scope == ScopeTurn && s.open > 0 {
		return s, chat.Errorf(chat.CodeIncomplete, "export.turn", "This turn has no answer yet; nothing was exported.").
			WithHint("wait for the answer, or export it as json")
	}
	return s, nil
}

// findSession reads the session, its branches, and the requested branch and turn.
func (e *Exporter) findSession(ctx context.Context, r Request, s *selection) (err error) {
	id, branch := r.Session, r.Branch
	if s.scope == ScopeTurn {
		if s.turn, err = e.Store.Turn(ctx, r.Turn); err != nil {
			return err
		}
		branch = cmp.Or(branch, s.turn.BranchID)
	}
	if id == "" && branch != "" {
		b, err := e.Store.Branch(ctx, branch)
		if err != nil {
			return err
		}
		id = b.SessionID
	}
	if s.session, err = e.Store.Session(ctx, id); err != nil {
		return err
	}
	if s.branches, err = e.Store.Branches(ctx, id); err != nil {
		return err
	}
	branch = cmp.Or(branch, s.session.ActiveBranch)
	found := false
	for _, b := range s.branches {
		if b.ID == branch {
			s.branch, found = b, true
		}
	}
	if !found {
		return chat.Errorf(chat.CodeNotFound, "export.branch", "Session %s has no branch %s; nothing was exported.", id, branch)
	}
	if s.scope == ScopeTurn && !s.inLineage(s.branch.ID, s.turn) {
		return chat.Errorf(chat.CodeNotFound, "export.turn", "Branch %s has no turn %s; nothing was exported.", branch, r.Turn)
	}
	return nil
}

// inLineage reports whether a turn is in the lineage of a branch.
func (s selection) inLineage(branch chat.BranchID, t chat.Turn) bool {
	upTo := t.Seq
	for range s.branches {
		if t.BranchID == branch {
			return t.Seq <= upTo
		}
		for _, b := range s.branches {
			if b.ID == branch {
				branch, upTo = b.ParentBranch, b.ForkSeq
				break
			}
		}
		if branch == "" || t.Seq > upTo {
			return false
		}
	}
	return false
}

// findOpen counts the turns to leave out, and finds out whether some turns are unfinished.
func (e *Exporter) findOpen(ctx context.Context, s *selection) error {
	unfinished, err := e.Store.UnfinishedTurns(ctx)
	if err != nil {
		return err
	}
	for _, t := range unfinished {
		if t.SessionID != s.session.ID || !s.contains(t) {
			continue
		}
		s.running = true
		if render.Open(t) && (s.format == FormatMarkdown || s.format == FormatHTML) {
			s.open++
		}
	}
	return nil
}

// contains reports whether a turn of the session is among the chapters.
func (s selection) contains(t chat.Turn) bool {
	switch {
	case s.all:
		return true
	case s.scope == ScopeTurn:
		return t.ID == s.turn.ID
	}
	return s.inLineage(s.branch.ID, t)
}

// title returns the title of the file.
func (s selection) title() string {
	name := s.session.Title
	switch {
	case s.scope == ScopeTurn:
		name = withSuffix(name, " - turn "+decimal(s.turn.Seq))
	case s.scope == ScopeBranch && len(s.branches) > 1:
		label := s.branch.Label
		if label == "" {
			label = chat.ShortID(s.branch.ID)
		}
		name = withSuffix(name, " - "+cut(label, longestName/2))
	}
	return name
}

// withSuffix appends a suffix to a title, which is shortened if necessary.
func withSuffix(title, suffix string) string {
	if FileName(title) == unnamed {
		title = unnamed
	}
	return cut(FileName(title), longestName-len(suffix)) + suffix
}
