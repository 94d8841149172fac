package jobs

import (
	"context"
	"time"

	"contextinfinity/backend/chat"
)

// maxFailed limits the failed jobs that a report names.
const maxFailed = 20

// recoverOpen repairs what no job handles: streams, missing and abandoned jobs, unneeded journals and documents. After
// an error the rest is done by the next call.
func (r *Reconciler) recoverOpen(ctx context.Context, since time.Time) (chat.RecoveryReport, error) {
	r.repairMu.Lock()
	defer r.repairMu.Unlock()
	report, err := r.d.Turns.Recover(ctx)
	if err != nil {
		return report, err
	}
	n, err := r.d.Store.RequeueMissing(ctx)
	if err != nil {
		return report, err
	}
	count(&report, chat.RecoveredRequeued, n+r.d.Store.Orphaned())
	swept, err := r.d.Store.SweepFiles(ctx)
	if err != nil {
		return report, err
	}
	count(&report, chat.RecoveredSwept, swept)
	if err := r.reportFailed(ctx, &report, since); err != nil {
		return report, err
	}
	return report, r.pending(ctx)
}

func count(report *chat.RecoveryReport, kind chat.RecoveryKind, n int) {
	if n > 0 {
		report.Items = append(report.Items, chat.RecoveredCount(kind, n))
	}
}

// reportFailed adds the newest jobs that failed since a time to a report.
func (r *Reconciler) reportFailed(ctx context.Context, report *chat.RecoveryReport, since time.Time) error {
	failed, err := r.d.Store.Jobs(ctx, chat.JobQuery{State: chat.JobFailed, Limit: maxFailed})
	for _, j := range failed {
		if !j.UpdatedAt.After(since) {
			continue
		}
		report.Items = append(report.Items, chat.FailedJob(j))
	}
	return err
}

// pending records, once, the turns that an earlier run left pending: the report says when they are committed.
func (r *Reconciler) pending(ctx context.Context) error {
	if r.reports.started() {
		return nil
	}
	ids, err := r.d.Store.PendingIDs(ctx)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range ids {
		r.waiting[id] = true
	}
	return nil
}

// committed is called by the runner for committed turns.
func (r *Reconciler) committed(turns []chat.Turn) {
	n := 0
	r.mu.Lock()
	r.commits += len(turns)
	for _, t := range turns {
		if r.waiting[t.ID] {
			delete(r.waiting, t.ID)
			n++
		}
	}
	r.mu.Unlock()
	if n > 0 {
		r.reports.committed(n)
		r.d.Publish.Change(chat.Change{Kind: chat.ChangeRecovery})
	}
}

// jobFailed is called by the runner for a failed job.
func (r *Reconciler) jobFailed(j chat.Job) { r.reportNew(chat.FailedJob(j)) }

// reportNew reports something found between two checks, if it is new.
func (r *Reconciler) reportNew(i chat.RecoveryItem) {
	news := chat.RecoveryReport{At: r.d.Clock.Now(), Items: []chat.RecoveryItem{i}}.Since(r.reports.list()...)
	if news.Clean() {
		return
	}
	r.reports.remember(news)
	r.d.Publish.Change(chat.Change{Kind: chat.ChangeRecovery})
}
