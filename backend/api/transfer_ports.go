package api

import (
	"fmt"

	"contextinfinity/backend/importing"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/transfer"
)

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
	v.Notices = lists.Map(r.Notices, func(n transfer.Notice) CountedNote {
		return CountedNote{Text: n.Text, Count: n.Count, Files: append([]string{}, n.Files...)}
	})
	return v
}
