package jobs

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"contextinfinity/backend/chat"
)

// keptReports is how many reports are kept.
const keptReports = 20

// settingReport is the setting with the newest report, for the next run of the program.
const settingReport = "recovery.report"

// reports are the reconciler's recent reports.
type reports struct {
	mu         sync.Mutex
	kept       []chat.RecoveryReport // newest first; the last may be from an earlier run
	stored     string                // content of the setting
	loaded     bool
	previousAt time.Time // time of the previous run's last report
	shown      chat.RecoveryReport
}

// Report is the newest non-empty report of this run; if there is none, the empty report of the start.
func (r *Reconciler) Report() chat.RecoveryReport {
	r.reports.mu.Lock()
	defer r.reports.mu.Unlock()
	return clone(r.reports.shown)
}

// Earlier returns the earlier non-empty reports, newest first.
func (r *Reconciler) Earlier() []chat.RecoveryReport {
	list := r.reports.list()
	return slices.DeleteFunc(list, func(e chat.RecoveryReport) bool { return e.At.Equal(r.Report().At) })
}

func clone(r chat.RecoveryReport) chat.RecoveryReport {
	r.Items = slices.Clone(r.Items)
	return r
}

func (r *reports) list() []chat.RecoveryReport {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.kept)
}

// started reports whether this run has reported already.
func (r *reports) started() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.shown.At.IsZero()
}

// add stores a report, also in the setting.
func (r *reports) add(ctx context.Context, s MaintenanceStore, report chat.RecoveryReport) {
	r.load(ctx, s)
	r.remember(report)
	r.save(ctx, s)
}

// remember keeps a report in memory. An empty one does not replace another.
func (r *reports) remember(report chat.RecoveryReport) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if report.Clean() && !r.shown.At.IsZero() {
		return
	}
	r.shown = report
	if !report.Since(r.kept...).Clean() {
		r.kept = slices.Insert(r.kept, 0, clone(report))
		r.kept = r.kept[:min(len(r.kept), keptReports)]
	}
}

// committed adds the number of committed turns to the shown report.
func (r *reports) committed(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.shown.Items, func(i chat.RecoveryItem) bool { return i.Kind == chat.RecoveredCommitted })
	items := slices.Clone(r.shown.Items)
	if i < 0 {
		items = append(items, chat.RecoveredCount(chat.RecoveredCommitted, n))
	} else {
		items[i] = chat.RecoveredCount(chat.RecoveredCommitted, items[i].Count+n)
	}
	if len(r.kept) == 0 || !r.kept[0].At.Equal(r.shown.At) {
		r.kept = slices.Insert(r.kept, 0, r.shown)
	}
	r.shown.Items, r.kept[0].Items = items, slices.Clone(items)
}

// load reads the previous run's report, once, and returns its time.
func (r *reports) load(ctx context.Context, s MaintenanceStore) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.loaded {
		return r.previousAt
	}
	text, ok, err := s.Setting(ctx, settingReport)
	if err != nil {
		return r.previousAt // retried with the next report
	}
	r.loaded, r.stored = true, text
	if old, err := decodeReport(text); ok && err == nil && !old.Clean() {
		r.kept, r.previousAt = append(r.kept, old), old.At
	}
	return r.previousAt
}

func decodeReport(text string) (chat.RecoveryReport, error) {
	var r chat.RecoveryReport
	err := json.Unmarshal([]byte(text), &r)
	return r, err
}

// LastReport is the newest non-empty report of any run of the program.
func (r *Reconciler) LastReport(ctx context.Context) (chat.RecoveryReport, error) {
	text, ok, err := r.d.Store.Setting(ctx, settingReport)
	if err != nil || !ok {
		return chat.RecoveryReport{}, err
	}
	return decodeReport(text)
}

// save stores the newest report in the setting, unless only its time differs: finding the same again is not a change.
// If that fails, the next call tries again.
func (r *reports) save(ctx context.Context, s MaintenanceStore) {
	r.load(ctx, s)
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.kept) == 0 || !r.loaded {
		return
	}
	if old, err := decodeReport(r.stored); err == nil && slices.Equal(old.Items, r.kept[0].Items) {
		return
	}
	text, err := json.Marshal(r.kept[0])
	if err != nil {
		return
	}
	if s.PutSetting(ctx, settingReport, string(text)) == nil {
		r.stored = string(text)
	}
}
