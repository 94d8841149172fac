package exporting

import (
	"context"
	"io"
	"strconv"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/transfer/render"
)

// pageTurns is how many turns are read at once.
const pageTurns = 100

// counted adds up what is written of an export.
type counted struct {
	told  Progress
	done  int64
	total int64
}

func (c *counted) add(n int) {
	c.done += int64(n)
	if c.told != nil {
		c.told(min(c.done, c.total), c.total)
	}
}

// write writes a selection.
func (e *Exporter) write(ctx context.Context, s selection, w io.Writer, c *counted) error {
	if s.format == FormatBundle {
		if err := e.Bundles.WriteBundle(ctx, s.session.ID, w); err != nil {
			return err
		}
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

// document is a selection as it is rendered: its turns are read while it is written.
// One turn alone goes without the instructions and pins of its session: who gives it
// away has not seen them.
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

// each reads the turns of a chapter, page by page.
func (e *Exporter) each(ctx context.Context, ch render.Chapter, c *counted, f func(render.Turn) error) error {
	for from := ch.From; ; {
		turns, err := e.Store.Lineage(ctx, chat.LineageQuery{Branch: ch.Branch.ID, FromSeq: from, ToSeq: ch.To, Limit: pageTurns})
		if err != nil {
			return err
		}
		if err := e.page(ctx, turns, f); err != nil {
			return err
		}
		c.add(len(turns))
		if len(turns) < pageTurns {
			return nil
		}
		from = turns[len(turns)-1].Seq + 1
		if ch.To > 0 && from > ch.To {
			return nil
		}
	}
}

func (e *Exporter) page(ctx context.Context, turns []chat.Turn, f func(render.Turn) error) error {
	ids := make([]chat.TurnID, len(turns))
	for i, t := range turns {
		ids[i] = t.ID
	}
	steps, err := e.Store.StepsOf(ctx, ids)
	if err != nil {
		return err
	}
	for _, t := range turns {
		r := render.Turn{Turn: t, Steps: steps[t.ID]}
		if t.Assistant == nil && len(r.Steps) > 0 {
			part, err := e.Answers.Received(ctx, t)
			if err != nil {
				return err
			}
			r.Partial = &part
		}
		if err := f(r); err != nil {
			return err
		}
	}
	return nil
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }
