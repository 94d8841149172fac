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

// counter counts what an export has written, and reports the progress.
type counter struct {
	progress Progress
	done     int64
	total    int64
	leftOut  int // requests left out of bundles
}

func (c *counter) add(n int) {
	c.done += int64(n)
	if c.progress != nil {
		c.progress(min(c.done, c.total), c.total)
	}
}

// write writes a selection.
func (e *Exporter) write(ctx context.Context, s selection, w io.Writer, c *counter) error {
	if s.format == FormatBundle {
		leftOut, err := e.Bundles.WriteBundle(ctx, s.session.ID, w, s.quotes)
		if err != nil {
			return err
		}
		c.leftOut += leftOut
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

// document returns a selection for rendering; its turns are read while it is written. A single turn is exported without
// the session's instructions and pins, which the user may not expect in the file.
func (e *Exporter) document(ctx context.Context, s selection, c *counter) (render.Document, error) {
	d := render.Document{
		Session: s.session, Branch: s.branch, Branches: s.branches, Chapters: s.chapters, All: s.all,
		Each: func(ch render.Chapter, f func(render.Turn) error) error { return e.each(ctx, ch, c, f) },
	}
	if s.scope == ScopeTurn {
		d.Session.SystemPrompt = ""
		return d, nil
	}
	seen := map[chat.PinID]bool{}
	for _, ch := range s.chapters {
		pins, err := e.Store.Pins(ctx, ch.Branch.ID)
		if err != nil {
			return d, err
		}
		for _, p := range pins {
			if !seen[p.ID] {
				seen[p.ID] = true
				d.Pins = append(d.Pins, p)
			}
		}
	}
	return d, nil
}

// each reads the turns of a chapter page by page, one page ahead.
func (e *Exporter) each(ctx context.Context, ch render.Chapter, c *counter, f func(render.Turn) error) error {
	readCtx, stop := context.WithCancel(ctx)
	pages := make(chan page, 1)
	var reader sync.WaitGroup
	reader.Go(func() { defer close(pages); e.readPages(readCtx, ch, pages) })
	defer reader.Wait()
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
func (e *Exporter) readPages(ctx context.Context, ch render.Chapter, pages chan<- page) {
	for from, more := ch.From, true; more; {
		p := e.readPage(ctx, chat.LineageQuery{Branch: ch.Branch.ID, FromSeq: from, ToSeq: ch.To, Limit: pageTurns})
		select {
		case pages <- p:
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
