package exporting

import (
	"archive/zip"
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/transfer/render"
)

// prepareAll lists the sessions of an export of everything. Only their sizes are read now; their content is read when
// each is written.
func (e *Exporter) prepareAll(ctx context.Context, r Request) (prepared, error) {
	_, format, err := e.choose(r)
	if err != nil {
		return prepared{}, err
	}
	sessions, err := e.sessions(ctx, r.Archived)
	if err != nil {
		return prepared{}, err
	}
	if len(sessions) == 0 {
		return prepared{}, chat.Errorf(chat.CodeNotFound, "export.all", "There is no session to export yet; nothing was written.")
	}
	branches := r.AllBranches || format == FormatBundle
	p := prepared{name: FileName("ContextInfinity " + e.Now().Format("2006-01-02")), ext: ".zip", plan: Plan{Format: format, Sessions: len(sessions)}}
	p.plan.Name = p.name + p.ext
	ids := map[chat.SessionID]bool{}
	for _, s := range sessions {
		ids[s.ID] = true
		n, turns := 1, s.Turns
		if branches && s.Branches > 1 {
			if n, turns, err = e.size(ctx, s.ID); err != nil {
				return prepared{}, err
			}
		}
		p.plan.Branches += n
		p.plan.Turns += turns
	}
	if format == FormatMarkdown || format == FormatHTML {
		if p.plan.Open, err = e.countOpen(ctx, ids, branches); err != nil {
			return prepared{}, err
		}
		p.plan.Turns -= p.plan.Open
	}
	p.write = func(ctx context.Context, w io.Writer, c *counter) error {
		return e.writeAll(ctx, sessions, format, branches, w, c)
	}
	return p, nil
}

// sessions returns the sessions of an export of everything, oldest first.
func (e *Exporter) sessions(ctx context.Context, archived bool) ([]chat.SessionSummary, error) {
	list, err := e.Store.Sessions(ctx, chat.SessionQuery{})
	if err != nil || !archived {
		return byAge(list), err
	}
	more, err := e.Store.Sessions(ctx, chat.SessionQuery{Archived: true})
	return byAge(append(list, more...)), err
}

func byAge(list []chat.SessionSummary) []chat.SessionSummary {
	slices.SortFunc(list, func(a, b chat.SessionSummary) int {
		return thenByID(a.CreatedAt.Compare(b.CreatedAt), a.ID, b.ID)
	})
	return list
}

// thenByID returns order or, if it is 0, the order of the ids.
func thenByID(order int, a, b chat.SessionID) int {
	switch {
	case order != 0:
		return order
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func (e *Exporter) size(ctx context.Context, id chat.SessionID) (branches, turns int, err error) {
	all, err := e.Store.Branches(ctx, id)
	for _, b := range all {
		turns += b.Own()
	}
	return len(all), turns, err
}

// countOpen counts the turns of sessions that have no answer yet.
func (e *Exporter) countOpen(ctx context.Context, sessions map[chat.SessionID]bool, branches bool) (int, error) {
	unfinished, err := e.Store.UnfinishedTurns(ctx)
	n := 0
	for _, t := range unfinished {
		if err != nil || !sessions[t.SessionID] || !render.Open(t) {
			continue
		}
		if branches {
			n++
			continue
		}
		var s selection
		if s, err = e.find(ctx, Request{Scope: ScopeSession, Session: t.SessionID, Format: FormatMarkdown}); err == nil && s.contains(t) {
			n++
		}
	}
	return n, err
}

// writeAll writes a zip with a file for each session and an index. Bundles are already compressed.
func (e *Exporter) writeAll(ctx context.Context, sessions []chat.SessionSummary, format Format, branches bool, w io.Writer, c *counter) error {
	z := zip.NewWriter(w)
	names := taken{}
	names.take("index.html")
	names.take("README.md")
	index := render.Index{}
	for _, session := range sessions {
		s, err := e.find(ctx, Request{Scope: ScopeSession, Session: session.ID, AllBranches: branches, Format: format, Quotes: true})
		if chat.CodeOf(err) == chat.CodeNotFound {
			continue // deleted in the meantime
		}
		if err != nil {
			return withSession(session, err)
		}
		name := names.choose(FileName(s.session.Title), format.Extension())
		entry, err := create(z, name, s.session.UpdatedAt, format == FormatBundle)
		if err != nil {
			return err
		}
		if err := e.write(ctx, s, entry, c); err != nil {
			return withSession(session, err)
		}
		index.Entries = append(index.Entries, render.IndexEntry{
			File: name, Title: s.session.Title, Turns: s.turns(), CreatedAt: s.session.CreatedAt, UpdatedAt: s.session.UpdatedAt, Archived: s.session.ArchivedAt != nil,
		})
	}
	name, write := "README.md", index.Markdown
	if format == FormatHTML {
		name, write = "index.html", index.HTML
	}
	entry, err := create(z, name, e.Now(), false)
	if err == nil {
		err = write(entry)
	}
	return errors.Join(err, z.Close())
}

func create(z *zip.Writer, name string, at time.Time, stored bool) (io.Writer, error) {
	h := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: at.UTC()}
	if stored {
		h.Method = zip.Store
	}
	h.SetMode(0o600)
	return z.CreateHeader(h)
}

// withSession adds the session to an error, so that the user can export the other sessions individually.
func withSession(s chat.SessionSummary, err error) error {
	e := chat.AsError(err)
	if e.Code != chat.CodeCorrupt {
		return err
	}
	return chat.WrapError(e.Code, "export.all", err, "Session %s cannot be read completely: %s", s.ID, e.Said()).
		WithHint("run verify to see what is wrong with it; the others can be exported one by one")
}
