package jobs

import (
	"context"
	"time"

	"contextinfinity/backend/chat"
)

// maxDead bounds how many given up jobs a report names.
const maxDead = 20

// recoverOpen finds and puts in order what no job does: streams, missing and abandoned jobs,
// journals and documents that nobody needs. What fails
// is tried again; what is done stays done.
func (r *Reconciler) recoverOpen(ctx context.Context, since time.Time) (chat.RecoveryReport, error) {
	r.settling.Lock()
	defer r.settling.Unlock()
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
	if err := r.given(ctx, &report, since); err != nil {
		return report, err
	}
	return report, r.pending(ctx)
}

func count(report *chat.RecoveryReport, kind chat.RecoveryKind, n int) {
	if n > 0 {
		report.Items = append(report.Items, chat.RecoveredCount(kind, n))
	}
}

// given names the newest jobs that were given up since a moment.
func (r *Reconciler) given(ctx context.Context, report *chat.RecoveryReport, since time.Time) error {
	dead, err := r.d.Store.Jobs(ctx, chat.JobQuery{State: chat.JobDead, Limit: maxDead})
	for _, j := range dead {
		if !j.UpdatedAt.After(since) {
			continue
		}
		report.Items = append(report.Items, chat.GivenUp(j))
	}
	return err
}

// pending remembers, once, the turns that an earlier run of the program left pending:
// the report says when they are committed.
func (r *Reconciler) pending(ctx context.Context) error {
	if r.reports.begun() {
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

// committed hears from the runner of turns that became part of a state.
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

// dead hears from the runner of a job that it gave up.
func (r *Reconciler) dead(j chat.Job) { r.tell(chat.GivenUp(j)) }

// tell reports something that was found between two looks, if it is news.
func (r *Reconciler) tell(i chat.RecoveryItem) {
	news := chat.RecoveryReport{At: r.d.Clock.Now(), Items: []chat.RecoveryItem{i}}.Since(r.reports.list()...)
	if news.Clean() {
		return
	}
	r.reports.remember(news)
	r.d.Publish.Change(chat.Change{Kind: chat.ChangeRecovery})
}
