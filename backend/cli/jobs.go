package cli

import (
	"context"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/jobs"
)

type jobsReply struct {
	Queued  int        `json:"queued"`
	Running int        `json:"running"`
	Failed  int        `json:"dead"`
	Paused  bool       `json:"paused"` // background work does not start automatically
	Jobs    []chat.Job `json:"jobs"`
}

func (c *call) jobsCommand() *cobra.Command {
	var state, session string
	var limit int
	cmd := &cobra.Command{Use: "jobs", Short: "List background jobs, retry or dismiss one, or pause them all", Args: exactly()}
	cmd.Flags().StringVar(&state, "state", "", "only queued, running, done or failed ones")
	cmd.Flags().StringVar(&session, "session", "", "only those of this session")
	cmd.Flags().IntVar(&limit, "limit", 50, "at most this many, the newest first (0: all)")
	cmd.RunE = c.run(func(ctx context.Context, _ []string) (reply, error) {
		q, err := jobQuery(state, limit)
		if err != nil {
			return reply{}, err
		}
		return c.jobs(ctx, q, session)
	})
	dismiss := c.jobCommand("dismiss", "Dismiss a job; it stays visible and can be retried", "dismissed", func(ctx context.Context, l *jobs.List, id int64) error { return l.DismissJob(ctx, id) })
	dismiss.Aliases = []string{"kill"} // its name in earlier versions
	cmd.AddCommand(
		c.jobCommand("retry", "Retry a job now, even a failed one", "queued again", func(ctx context.Context, l *jobs.List, id int64) error { return l.RetryJob(ctx, id) }),
		dismiss,
		c.pauseCommand("pause", "Start no background work automatically, not even after a restart, until `jobs resume`", true),
		c.pauseCommand("resume", "Resume background work", false),
	)
	return cmd
}

// failedJob is the word for a job that is not tried again. It is stored, and in --json, as "dead".
const failedJob = "failed"

func jobQuery(state string, limit int) (chat.JobQuery, error) {
	q := chat.JobQuery{State: chat.JobState(state), Limit: limit}
	switch {
	case limit < 0:
		return q, usagef("--limit must not be negative.")
	case state == failedJob:
		q.State = chat.JobFailed
	case !slices.Contains([]chat.JobState{"", chat.JobQueued, chat.JobRunning, chat.JobDone, chat.JobFailed}, q.State):
		return q, usagef("--state must be one of queued, running, done, failed, not %q.", clip(state, 40))
	}
	return q, nil
}

func stateOf(j chat.Job) string {
	if j.State == chat.JobFailed {
		return failedJob
	}
	return string(j.State)
}

func (c *call) jobs(ctx context.Context, q chat.JobQuery, session string) (reply, error) {
	none := jobsReply{Jobs: []chat.Job{}}
	return c.readingAny(ctx, reply{doc: none, text: none.print}, func(s *Services) (reply, error) {
		if session != "" {
			found, err := s.session(ctx, session)
			if err != nil {
				return reply{}, err
			}
			q.Session = found.ID
		}
		doc, err := s.jobList(ctx, q)
		return reply{doc: doc, text: doc.print}, err
	})
}

func (s *Services) jobList(ctx context.Context, q chat.JobQuery) (jobsReply, error) {
	doc := jobsReply{Jobs: []chat.Job{}}
	found, err := s.Queue.Jobs(ctx, q)
	if err != nil {
		return doc, err
	}
	doc.Jobs, doc.Paused = append(doc.Jobs, found...), s.Reconciler.Paused()
	doc.Queued, doc.Running, doc.Failed, err = s.Queue.JobCounts(ctx)
	return doc, err
}

func (r jobsReply) print(o *output) {
	o.printf("%d queued, %d running, %d failed%s\n", r.Queued, r.Running, r.Failed, map[bool]string{true: ", paused (resume with `jobs resume`)"}[r.Paused])
	if len(r.Jobs) == 0 {
		return
	}
	t := newTable("JOB", "TYPE", "STATE", "TRIES", "TURN", "DUE", "LAST ERROR").numbers(0, 3)
	for _, j := range r.Jobs {
		t.add(decimal(j.ID), string(j.Type), stateOf(j), count(j.Attempts), string(j.TurnID), dueOf(j), clip(j.LastError, 60))
	}
	t.print(o)
}

// dueOf describes when a job is tried, or which job it waits for.
func dueOf(j chat.Job) string {
	if j.WaitsFor != 0 {
		return "after job " + decimal(j.WaitsFor)
	}
	return local(j.RunAfter)
}

type jobReply struct {
	JobID int64 `json:"job_id"`
}

func (c *call) jobCommand(use, short, done string, act func(context.Context, *jobs.List, int64) error) *cobra.Command {
	cmd := &cobra.Command{Use: use + " JOB", Short: short, Args: exactly("JOB")}
	cmd.RunE = c.run(func(ctx context.Context, args []string) (reply, error) {
		id, err := strconv.ParseInt(args[0], 10, 64)
		if err != nil || id < 1 {
			return reply{}, usageHint("contextinfinity jobs lists them", "%q is not a job number.", clip(args[0], 40))
		}
		return c.writing(ctx, silent{}, func(s *Services) (reply, error) {
			if err := act(ctx, s.Queue, id); err != nil {
				if chat.CodeOf(err) == chat.CodeNotFound {
					err = chat.AsError(err).WithHint("contextinfinity jobs lists them")
				}
				return reply{}, err
			}
			return reply{doc: jobReply{id}, text: func(o *output) { o.printf("Job %d is %s.\n", id, done) }}, nil
		})
	})
	return cmd
}

type pauseReply struct {
	Paused bool `json:"paused"`
	Queued int  `json:"queued"`
}

func (c *call) pauseCommand(use, short string, paused bool) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short, Args: exactly(),
		Long: "Sessions continue as always, and what you ask for (commit, reconcile, --wait) is done even while it is paused.",
	}
	cmd.RunE = c.writes(func(ctx context.Context, s *Services, _ []string) (reply, error) {
		if err := s.Reconciler.SetPaused(ctx, paused); err != nil {
			return reply{}, err
		}
		queued, _, _, err := s.Queue.JobCounts(ctx)
		return reply{doc: pauseReply{paused, queued}, text: func(o *output) {
			o.printf("Background work %s, %s queued.\n", map[bool]string{true: "is paused", false: "resumed"}[paused], plural(queued, "job"))
		}}, err
	})
	return cmd
}
