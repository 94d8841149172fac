package cli

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/jobs"
)

func maintenanceVerbs() []verb {
	return []verb{
		{
			use:      "reconcile",
			short:    "Recover what a crash left unfinished and do all background work that is due",
			long:     "Running it again changes nothing. --last shows the last report that found something.",
			flags:    []flag{boolFlag("last", "do nothing: show the last report that found something")},
			opensFor: opensWith("last", reads, writes),
			with:     func(_ *run, o *OpenOptions) { o.Reconcile = true },
			none:     func(*run) reply { return recovered(chat.RecoveryReport{}) },
			do: func(ctx context.Context, r *run) (reply, error) {
				if r.on("last") {
					last, err := r.s.Reconciler.LastReport(ctx)
					return recovered(last), err
				}
				return reconcile(ctx, r)
			},
		},
		{
			use:   "verify",
			short: "Check everything stored against its hashes, chains and rules",
			long:  "Lists each problem with its record, and exits with 3 if there are any. It changes nothing.",
			do:    verify,
		},
		{
			use:   "stats",
			short: "Count what is stored",
			opens: reads,
			do: func(ctx context.Context, r *run) (reply, error) {
				stats, err := stats(ctx, r.s)
				doc := lists.Map(stats, func(s Stat) field { return field{documentName(s.Name), s.Value} })
				t := tableOf("FIGURE|>VALUE", stats, func(s Stat) []any { return []any{rowName(s.Name), fmt.Sprint(s.Value)} })
				return reply{doc: fields(doc), text: t.print}, err
			},
		},
	}
}

func reconcile(ctx context.Context, r *run) (reply, error) {
	report := r.s.Recovery
	items := slices.Clone(report.Items)
	requeued := 0
	for _, i := range items {
		if i.Kind == chat.RecoveredRequeued {
			requeued += i.Count
		}
	}
	stop := r.watch("reconcile", func() progress {
		queued, _, _, err := r.s.Queue.JobCounts(ctx)
		if err != nil {
			return progress{}
		}
		return progress{more: plural(queued, "job") + " queued"}
	})
	ran, committed, err := r.s.Reconciler.CatchUp(ctx)
	stop()
	if committed > 0 {
		items = append(items, chat.RecoveredCount(chat.RecoveredCommitted, committed))
	}
	queued, failed := 0, 0 // queued: waiting for a later time
	if err == nil {
		queued, _, failed, err = r.s.Queue.JobCounts(ctx)
	}
	report.Items = items
	doc := append(recoveryDocument(report), fields{
		{"requeued", requeued},
		{"jobs_run", ran},
		{"queued", queued},
		{"dead", failed},
	}...)
	return reply{doc: doc, text: func(o *output) {
		printItems(o, report)
		if len(items) == 0 && requeued+ran+queued+failed == 0 {
			o.printf("No unfinished work was found.\n")
			return
		}
		o.printf("%d requeued, %d run, %d scheduled for later, %d failed.\n", requeued, ran, queued, failed)
	}}, err
}

func recoveryDocument(r chat.RecoveryReport) fields {
	r.Items = append([]chat.RecoveryItem{}, r.Items...)
	return fields{{"recovery", r}}
}

// recovered shows an earlier report.
func recovered(r chat.RecoveryReport) reply {
	return reply{doc: recoveryDocument(r), text: func(o *output) {
		o.printIf(!r.At.IsZero(), "%s\n", local(r.At))
		printItems(o, r)
		switch {
		case r.Clean() && r.At.IsZero():
			o.printf("No run has found unfinished work yet.\n")
		case r.Clean():
			o.printf("%s\n", r.Summary())
		}
	}}
}

func printItems(o *output, r chat.RecoveryReport) {
	for _, i := range r.Items {
		turn := ""
		if i.TurnID != "" {
			turn = " turn " + string(i.TurnID)
		}
		o.printf("%s%s: %s\n", i.Kind, turn, line(i.Message))
	}
}

// verify also reports a file that is too damaged to open.
func verify(ctx context.Context, r *run) (reply, error) {
	answer, err := r.readingAny(ctx, verified(nil), func(s *Services) (reply, error) {
		defer r.watch("verify", nil)()
		var found []chat.Finding
		for _, check := range s.Inspecting.Checks() {
			more, err := check.Run(ctx)
			if err != nil {
				return reply{}, err
			}
			found = append(found, more...)
		}
		return verified(found), foundProblems(len(found))
	})
	if exitCode(err) != exitProblems && chat.CodeOf(err) == chat.CodeCorrupt {
		e := r.describe(err)
		answer = verified([]chat.Finding{{Kind: "open", Table: "", ID: "database", Message: e.Message}})
		err = cannotOpen(e.Hint)
	}
	return answer, err
}

func verified(found []chat.Finding) reply {
	doc := fields{{"ok", len(found) == 0}, {"findings", found}}
	return reply{doc: doc, keepOnError: true, text: func(o *output) {
		printFindings(o, "", found)
		o.printIf(len(found) == 0, "No problems found.\n")
	}}
}

// cannotOpen returns the error for a database that cannot be opened. Unlike other problems, it gives no information
// about the rest of the data.
func cannotOpen(hint string) error {
	const problem = "The data cannot be opened, so nothing in it was verified."
	return problemsError(chat.Errorf(chat.CodeCorrupt, "cli.verify", problem).WithHint("%s", hint))
}

func foundProblems(n int) error {
	if n == 0 {
		return nil
	}
	return problemsError(chat.Errorf(chat.CodeCorrupt, "cli.verify", "%s found.", plural(n, "problem")).
		WithHint("everything else is intact; a backup may contain these records"))
}

// documentName renames "schema", because the document itself has a member with that name.
func documentName(name string) string {
	if name == "schema" {
		return "database_schema"
	}
	return name
}

// rowName is the name of a figure in the table. Failed jobs are "dead_jobs" in the document.
func rowName(name string) string {
	if name == "dead_jobs" {
		return "failed jobs"
	}
	return strings.ReplaceAll(name, "_", " ")
}

func jobsVerb() verb {
	const pauseLong = "Sessions continue as always, and what you ask for (commit, reconcile, --wait) is done even while it " +
		"is paused."
	return verb{
		use:   "jobs",
		short: "List background jobs, retry or dismiss one, or pause them all",
		flags: []flag{
			textFlag("state", "only queued, running, done or failed ones"),
			nameFlag("session", "only those of this session"),
			numberFlag("limit", 0, 50, "at most this many, the newest first (0: all)"),
		},
		prepare: func(_ context.Context, r *run) error {
			if state := r.text("state"); state != "" && jobStates[state] == "" {
				return usagef("--state must be one of queued, running, done, failed, not %q.", clip(state, 40))
			}
			return nil
		},
		opens: reads,
		none:  func(*run) reply { return jobList(nil, 0, 0, 0, false, nil) },
		do:    listJobs,
		verbs: []verb{
			jobVerb("retry", "Retry a job now, even a failed one", "", "queued again", false),
			jobVerb("dismiss", "Dismiss a job; it stays visible and can be retried", "kill", "dismissed", true),
			{
				use:   "pause",
				short: "Start no background work automatically, not even after a restart, until `jobs resume`",
				long:  pauseLong,
				opens: writes,
				do:    func(ctx context.Context, r *run) (reply, error) { return pauseJobs(ctx, r, true, "is paused") },
			},
			{
				use:   "resume",
				short: "Resume background work",
				long:  pauseLong,
				opens: writes,
				do:    func(ctx context.Context, r *run) (reply, error) { return pauseJobs(ctx, r, false, "resumed") },
			},
		},
	}
}

// jobStates are the values of --state. A job that is not tried again is shown as failed; stored, and in --json, it is
// "dead".
var jobStates = map[string]chat.JobState{
	"queued":  chat.JobQueued,
	"running": chat.JobRunning,
	"done":    chat.JobDone,
	"failed":  chat.JobFailed,
	"dead":    chat.JobFailed,
}

func listJobs(ctx context.Context, r *run) (reply, error) {
	found, err := r.s.Queue.Jobs(ctx, chat.JobQuery{
		State:   jobStates[r.text("state")],
		Session: r.session.ID,
		Limit:   r.number("limit"),
	})
	if err != nil {
		return reply{}, err
	}
	queued, running, failed, err := r.s.Queue.JobCounts(ctx)
	if err != nil {
		return reply{}, err
	}
	chunks, err := r.s.Jobs.ChunkProgress(ctx)
	return jobList(found, queued, running, failed, r.s.Reconciler.Paused(), chunks), err
}

func jobList(list []chat.Job, queued, running, failed int, paused bool, chunks *jobs.ChunkProgress) reply {
	t := tableOf(">JOB|TYPE|STATE|>TRIES|TURN|DUE|LAST ERROR", list, func(j chat.Job) []any {
		state, due := string(j.State), local(j.RunAfter)
		if j.State == chat.JobFailed {
			state = "failed"
		}
		if j.WaitsFor != 0 {
			due = "after job " + decimal(j.WaitsFor)
		}
		return []any{j.ID, j.Type, state, count(j.Attempts), j.TurnID, due, clip(j.LastError, 60)}
	})
	doc := fields{
		{"queued", queued},
		{"running", running},
		{"dead", failed},
		{"paused", paused}, // background work does not start automatically
		{"jobs", list},
	}
	if chunks != nil {
		doc = append(doc, field{"chunk_summaries", chunks})
	}
	return reply{doc: doc, text: func(o *output) {
		note := map[bool]string{true: ", paused (resume with `jobs resume`)"}[paused]
		o.printf("%d queued, %d running, %d failed%s\n", queued, running, failed, note)
		if chunks != nil {
			o.printf("summaries of long passages: %d written, %d to write, %d of %d tokens used today\n",
				chunks.Written, chunks.Waiting, chunks.Tokens, chunks.Limit)
		}
		if len(list) > 0 {
			t.print(o)
		}
	}}
}

// jobVerb returns a verb that retries a job, or dismisses it.
func jobVerb(name, short, alias, done string, dismiss bool) verb {
	return verb{
		use: name + " JOB", short: short, alias: alias, opens: writes,
		prepare: func(_ context.Context, r *run) error {
			if jobID(r) < 1 {
				const hint = "contextinfinity jobs lists them"
				return usageHint(hint, "%q is not a job number.", clip(r.args[0], 40))
			}
			return nil
		},
		do: func(ctx context.Context, r *run) (reply, error) {
			act := r.s.Queue.RetryJob
			if dismiss {
				act = r.s.Queue.DismissJob
			}
			id := jobID(r)
			err := act(ctx, id)
			if chat.CodeOf(err) == chat.CodeNotFound {
				err = chat.AsError(err).WithHint("contextinfinity jobs lists them")
			}
			return sentence(fields{{"job_id", id}}, "Job %d is %s.", id, done), err
		},
	}
}

func jobID(r *run) int64 {
	id, _ := strconv.ParseInt(r.args[0], 10, 64) // 0 is no job
	return id
}

func pauseJobs(ctx context.Context, r *run, paused bool, done string) (reply, error) {
	if err := r.s.Reconciler.SetPaused(ctx, paused); err != nil {
		return reply{}, err
	}
	queued, _, _, err := r.s.Queue.JobCounts(ctx)
	doc := fields{{"paused", paused}, {"queued", queued}}
	return sentence(doc, "Background work %s, %s queued.", done, plural(queued, "job")), err
}

// Stat is one figure of `stats`. Its name is that of a JSON field.
type Stat struct {
	Name  string
	Value any // string, or a number
}

func stats(ctx context.Context, s *Services) ([]Stat, error) {
	st, err := s.Store.Stats(ctx)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	month := chat.UsageQuery{Since: time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, now.Location())}
	used, err := s.Store.UsageByModel(ctx, month)
	if err != nil {
		return nil, err
	}
	inBackground, err := s.Store.BackgroundUsage(ctx, month)
	background := s.Models.SpentInBackground(inBackground)
	turns := s.Models.Spent(used)
	spent := turns.Plus(background)
	return []Stat{
		{"sessions", st.Sessions},
		{"branches", st.Branches},
		{"turns", st.Turns},
		{"pending", st.Pending},
		{"states", st.States},
		{"pins", st.Pins},
		{"chunks", st.Chunks},
		{"units", st.Units},
		{"vectors", st.Vectors},
		{"namespaces", st.Spaces},
		{"events", st.Events},
		{"jobs", st.Jobs},
		{"dead_jobs", st.FailedJobs},
		{"schema", st.Schema},
		{"bytes", st.Bytes},
		{"cost_this_month", math.Round(spent.Amount*1e4) / 1e4},
		{"cost_is_estimate", spent.Estimate},
		{"background_cost_this_month", math.Round(background.Amount*1e4) / 1e4},
		{"turns_without_price", turns.Unpriced},
	}, err
}
