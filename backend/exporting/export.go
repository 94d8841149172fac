package exporting

import (
	"context"
	"io"
	"os"
	"path/filepath"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/seal"
)

// prepared is an export ready to be written.
type prepared struct {
	name  string // without extension
	ext   string
	plan  Plan
	write func(context.Context, io.Writer, *counter) error
}

// prepare resolves a request without reading messages.
func (e *Exporter) prepare(ctx context.Context, r Request) (prepared, error) {
	p, err := e.prepareFormat(ctx, r)
	if err != nil || !r.Sealed {
		return p, err
	}
	if p.plan.Format != FormatBundle {
		return prepared{}, chat.Errorf(chat.CodeInvalid, opWrite, "Only a bundle can be sealed with a passphrase; nothing was written.").
			WithHint("choose the format bundle, or write a plain file")
	}
	p.seal(r.Passphrase)
	return p, nil
}

// seal encrypts what is written.
func (p *prepared) seal(passphrase string) {
	plain := p.write
	p.ext += seal.Extension
	p.plan.Name += seal.Extension
	p.write = func(ctx context.Context, w io.Writer, c *counter) error {
		sealed, err := seal.WithPassphrase(w, passphrase)
		if err == nil {
			err = plain(ctx, sealed, c)
		}
		if err == nil {
			err = sealed.Close()
		}
		return err
	}
}

// prepareFormat resolves a request for a file that is not sealed.
func (e *Exporter) prepareFormat(ctx context.Context, r Request) (prepared, error) {
	if r.Scope == ScopeAll {
		return e.prepareAll(ctx, r)
	}
	s, err := e.find(ctx, r)
	if err != nil {
		return prepared{}, err
	}
	p := prepared{
		name: FileName(s.title()), ext: s.format.Extension(),
		plan:  Plan{Format: s.format, Sessions: 1, Branches: len(s.chapters), Turns: s.turns(), Open: s.open},
		write: func(ctx context.Context, w io.Writer, c *counter) error { return e.write(ctx, s, w, c) },
	}
	p.plan.Name = p.name + p.ext
	if s.format == FormatBundle {
		p.plan.Quoting, err = e.Bundles.QuotingRequests(ctx, s.session.ID)
	}
	return p, err
}

// Plan returns what an export would write, and where.
func (e *Exporter) Plan(ctx context.Context, r Request) (Plan, error) {
	p, err := e.prepare(ctx, r)
	if err != nil {
		return Plan{}, err
	}
	_, err = e.place(ctx, r, &p)
	return p.plan, err
}

// Write writes a file. If it fails or is cancelled, there is no file, and a file to be replaced is unchanged.
func (e *Exporter) Write(ctx context.Context, r Request, progress Progress) (Result, error) {
	p, err := e.prepare(ctx, r)
	if err != nil {
		return Result{}, err
	}
	chosen, err := e.place(ctx, r, &p)
	if err != nil {
		return Result{}, err
	}
	c := &counter{progress: progress, total: int64(p.plan.Turns + p.plan.Open)}
	var size int64
	for try := 1; ; try++ {
		size, err = save(ctx, e.DataDir, p.plan.Path, r.Replace, func(w io.Writer) error { return p.write(ctx, w, c) })
		if chat.CodeOf(err) != chat.CodeConflict || !chosen || try == 10 {
			break
		}
		if _, err := e.place(ctx, r, &p); err != nil { // another program took the name in the meantime
			return Result{}, err
		}
		c.done, c.leftOut = 0, 0
	}
	if err != nil {
		return Result{}, err
	}
	p.plan.Exists = true
	if e.Used != nil {
		e.Used(ctx, filepath.Dir(p.plan.Path))
	}
	return Result{Plan: p.plan, Bytes: size, LeftOut: c.leftOut}, nil
}

// WriteTo writes to w what Write would write to a file. If it fails, a part may have been written.
func (e *Exporter) WriteTo(ctx context.Context, r Request, w io.Writer, progress Progress) (Result, error) {
	p, err := e.prepare(ctx, r)
	if err != nil {
		return Result{}, err
	}
	out := &countingWriter{w: w}
	c := &counter{progress: progress, total: int64(p.plan.Turns + p.plan.Open)}
	err = p.write(ctx, out, c)
	return Result{Plan: p.plan, Bytes: out.n, LeftOut: c.leftOut}, cancelled(ctx, err)
}

// place sets the path of the plan. chosen means that the caller did not name the file.
func (e *Exporter) place(ctx context.Context, r Request, p *prepared) (chosen bool, err error) {
	path := r.Path
	if path == "" {
		if path, err = e.Folder(ctx); err != nil {
			return false, err
		}
		chosen = true
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return false, chat.WrapError(chat.CodeInvalid, opWrite, err, "The path cannot be used; nothing was written.")
	}
	if chosen || isFolder(path, abs) {
		chosen = true
		p.plan.Name, abs = freeName(abs, p.name, p.ext, r.Replace)
	} else {
		p.plan.Name = filepath.Base(abs)
	}
	if err := e.refuseDataDir(abs); err != nil {
		return false, err
	}
	p.plan.Path = abs
	_, err = os.Lstat(abs)
	p.plan.Exists = err == nil
	return chosen, nil
}

// freeName returns an unused name in a folder or, when replacing, the first candidate.
func freeName(folder, name, ext string, replace bool) (string, string) {
	for n := 1; ; n++ {
		file := numbered(name, n) + ext
		path := filepath.Join(folder, file)
		if _, err := os.Lstat(path); err != nil || replace || n == 10_000 {
			return file, path
		}
	}
}
