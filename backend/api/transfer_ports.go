package api

import (
	"context"
	"fmt"
	"io"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/exporting"
	"contextinfinity/backend/importing"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/transfer"
)

// Imports implements the page's imports with the import service.
func Imports(s *importing.Service) Importer { return imports{s} }

type imports struct{ service *importing.Service }

// Import implements Importer.
func (i imports) Import(ctx context.Context, path, format string, progress ReportProgress) (ImportReport, error) {
	report, err := i.service.Import(ctx, path, importing.Options{
		Format:   transfer.Format(format),
		Progress: func(p importing.Progress) { progress(p.Done, p.Total, "bytes", atConversation(p)) },
	})
	return importReport(report), err
}

// atConversation describes how many sessions were imported, and which conversation is being read.
func atConversation(p importing.Progress) string {
	switch p.Sessions {
	case 0:
		return p.Title
	case 1:
		return "1 session. " + p.Title
	}
	return fmt.Sprintf("%d sessions. %s", p.Sessions, p.Title)
}

func importReport(r importing.Report) ImportReport {
	v := ImportReport{
		File: r.File, Format: string(r.Format), Sessions: r.Sessions, Grown: r.Grown, Already: r.Already, Turns: r.Turns, Branches: r.Branches,
		SkippedCount: r.SkippedCount, Skipped: []SkippedRow{}, Instructed: r.Instructed, Torn: r.Truncated, TornFiles: append([]string{}, r.TruncatedFiles...), Cancelled: r.Cancelled,
		FirstSession: string(r.First), Copied: r.Copied,
	}
	for _, row := range r.Skipped {
		v.Skipped = append(v.Skipped, SkippedRow{File: row.File, Index: row.Index, ID: row.ID, Title: row.Title, Offset: row.Offset, Reason: row.Why()})
	}
	v.Instructions = lists.Map(r.Instructions, func(in importing.Instructions) Instructed {
		return Instructed{SessionID: string(in.Session), Title: in.Title, Begins: in.Begins}
	})
	v.Notices = lists.Map(r.Notices, func(n importing.Notice) CountedNote {
		return CountedNote{Text: n.Text, Count: n.Count, Files: append([]string{}, n.Files...)}
	})
	return v
}

// Exports implements the page's exports with an exporter.
func Exports(e *exporting.Exporter) Exporter { return exports{e} }

type exports struct{ exporter *exporting.Exporter }

func exportRequest(r ExportRequest) exporting.Request {
	return exporting.Request{
		Scope: exporting.Scope(r.Scope), Session: chat.SessionID(r.SessionID), Branch: chat.BranchID(r.BranchID), Turn: chat.TurnID(r.TurnID),
		AllBranches: r.AllBranches, Format: exporting.Format(r.Format), Quotes: r.Quotes, Archived: r.Archived, Path: r.Path, Replace: r.Replace,
	}
}

// Plan implements Exporter.
func (e exports) Plan(ctx context.Context, r ExportRequest) (ExportPlan, error) {
	p, err := e.exporter.Plan(ctx, exportRequest(r))
	return ExportPlan{
		Name: p.Name, Path: p.Path, Exists: p.Exists, Sessions: p.Sessions, Branches: p.Branches, Turns: p.Turns, Open: p.Open, Quoting: p.Quoting,
	}, err
}

// Write implements Exporter.
func (e exports) Write(ctx context.Context, r ExportRequest, progress ReportProgress) (string, error) {
	res, err := e.exporter.Write(ctx, exportRequest(r), func(done, total int64) { progress(done, total, "turns", "") })
	return res.Path, err
}

// WriteTo implements Exporter.
func (e exports) WriteTo(ctx context.Context, r ExportRequest, w io.Writer) error {
	_, err := e.exporter.WriteTo(ctx, exportRequest(r), w, nil)
	return err
}

// DragFile implements Exporter.
func (e exports) DragFile(ctx context.Context, r ExportRequest) (DraggedFile, error) {
	f, err := e.exporter.DragFile(ctx, exportRequest(r))
	return DraggedFile{Path: f.Path, URI: f.URI, Name: f.Name, Size: f.Size}, err
}
