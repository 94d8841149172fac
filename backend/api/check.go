package api

import (
	"context"
	"encoding/json"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/tasks"
)

// maxFindings limits the stored findings of a check; all are counted.
const maxFindings = 100

// Check checks all stored data against its hashes, chains and rules, like the verb verify. It changes nothing.
func (s *Storage) Check() (TaskView, error) {
	if err := s.c.ready(); err != nil {
		return TaskView{}, err
	}
	return viewOf(s.c.Tasks.Start(tasks.Spec{Kind: tasks.Verify, Title: chat.Say("Check everything")}, s.checking))
}

func (s *Storage) checking(ctx context.Context, p *tasks.Progress) (tasks.Result, error) {
	parts := s.c.Inspecting.Checks()
	report := CheckReport{Findings: []chat.Phrase{}}
	for i, part := range parts {
		p.Count(int64(i), int64(len(parts)), "")
		p.Detail(part.What)
		found, err := part.Run(ctx)
		if err == nil {
			err = ctx.Err() // an interrupted check is incomplete
		}
		if err != nil {
			return tasks.Result{}, err
		}
		report.Problems += len(found)
		for _, f := range found[:min(len(found), maxFindings-len(report.Findings))] {
			report.Findings = append(report.Findings, chat.Quote(findingText(f)))
		}
	}
	p.Count(int64(len(parts)), int64(len(parts)), "")
	raw, err := json.Marshal(report)
	return tasks.Result{Report: raw}, err
}

// findingText returns the record and the problem as one text.
func findingText(f chat.Finding) string {
	return f.Table + " " + f.ID + ": " + groupedCounts(f.Message)
}
