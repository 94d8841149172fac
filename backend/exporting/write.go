package exporting

import (
	"context"
	"io"
	"strconv"
	"sync"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/transfer/render"
)

// pageTurns is how many turns are read at once.
const pageTurns = 100

// counted counts what an export has written.
type counted struct {
	progress Progress
	done     int64
	total    int64
	left     int // requests left out of bundles
}

func (c *counted) add(n int) {
	c.done += int64(n)
	if c.progress != nil {
		c.progress(min(c.done, c.total), c.total)
	}
}

// write writes a selection.
func (e *Exporter) write(ctx context.Context, s selection, w io.Writer, c *counted) error {
	if s.format == FormatBundle {
		left, err := e.Bundles.WriteBundle(ctx, s.session.ID, w, s.quotes)
		if err != nil {
			return err
		}
		c.left += left
		c.add(s.turns())
		return nil
	}
	d, err := e.document(ctx, s, c)
	if err != nil {
		return err
	}
	switch s.format {
	case FormatJSON:
		return render.JSON(w, d)
	case FormatHTML:
		return render.HTML(w, d)
	}
	return render.Markdown(w, d)
}

// document is a selection for rendering; its turns are read while it is written. A single turn is exported without
// the session's instructions and pins, which the user may not expect in the file.
func (e *Exporter) document(ctx context.Context, s selection, c *counted) (render.Document, error) {
	d := render.Document{
		Session: s.session, Branch: s.branch, Branches: s.branches, Chapters: s.chapters, All: s.all,
		Each: func(ch render.Chapter, f func(render.Turn) error) error { return e.each(ctx, ch, c, f) },
	}
	if s.scope == ScopeTurn {
		d.Session.SystemPrompt = ""
		return d, nil
	}
	known := map[chat.PinID]bool{}
	for _, ch := range s.chapters {
		pins, err := e.Store.Pins(ctx, ch.Branch.ID)
		if err != nil {
			return d, err
		}
		for _, p := range pins {
			if !known[p.ID] {
				known[p.ID] = true
				d.Pins = append(d.Pins, p)
			}
		}
	}
	return d, nil
}

// each reads the turns of a chapter page by page, one page ahead.
func (e *Exporter) each(ctx context.Context, ch render.Chapter, c *counted, f func(render.Turn) error) error {
	reading, stop := context.WithCancel(ctx)
	pages := make(chan page, 1)
	var behind sync.WaitGroup
	behind.Go(func() { defer close(pages); e.readPages(reading, ch, pages) })
	defer behind.Wait()
	defer stop()
	for p := range pages {
		if p.err != nil {
			return p.err
		}
		for _, t := range p.turns {
			if err := f(t); err != nil {
				return err
			}
		}
		c.add(len(p.turns))
	}
	return ctx.Err()
}

// page is a run of turns, or an error.
type page struct {
	turns []render.Turn
	err   error
}

// readPages sends the pages of a chapter until an error occurs or the receiver stops.
func (e *Exporter) readPages(ctx context.Context, ch render.Chapter, to chan<- page) {
	for from, more := ch.From, true; more; {
		p := e.readPage(ctx, chat.LineageQuery{Branch: ch.Branch.ID, FromSeq: from, ToSeq: ch.To, Limit: pageTurns})
		select {
		case to <- p:
		case <-ctx.Done():
			return
		}
		if more = p.err == nil && len(p.turns) == pageTurns; more {
			from = p.turns[pageTurns-1].Seq + 1
			more = ch.To == 0 || from <= ch.To
		}
	}
}

func (e *Exporter) readPage(ctx context.Context, q chat.LineageQuery) page {
	turns, err := e.Store.Lineage(ctx, q)
	if err != nil {
		return page{err: err}
	}
	ids := lists.Map(turns, func(t chat.Turn) chat.TurnID { return t.ID })
	steps, err := e.Store.StepsWithItems(ctx, ids)
	if err != nil {
		return page{err: err}
	}
	calls, err := e.Store.ToolBatches(ctx, ids)
	if err != nil {
		return page{err: err}
	}
	p := page{turns: make([]render.Turn, len(turns))}
	for i, t := range turns {
		t.Assistant = withResults(t.Assistant, calls[t.ID])
		p.turns[i] = render.Turn{Turn: t, Steps: steps[t.ID]}
		if t.Assistant != nil || len(steps[t.ID]) == 0 {
			continue
		}
		part, err := e.Answers.Received(ctx, t)
		if err != nil {
			return page{err: err}
		}
		p.turns[i].Partial = withResults(&part, calls[t.ID])
	}
	return p
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }
