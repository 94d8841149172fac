package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"contextinfinity/backend/chat"
)

type reconcileReply struct {
	Recovery chat.RecoveryReport `json:"recovery"`
	Requeued int                 `json:"requeued"`
	Ran      int                 `json:"jobs_run"`
	Queued   int                 `json:"queued"` // waiting for a later time
	Failed   int                 `json:"dead"`
}

func (c *call) reconcileCommand() *cobra.Command {
	var last bool
	cmd := &cobra.Command{
		Use: "reconcile", Short: "Recover what a crash left unfinished and do all background work that is due",
		Long: "Running it again changes nothing. --last shows the last report that found something.", Args: exactly(),
	}
	cmd.Flags().BoolVar(&last, "last", false, "do nothing: show the last report that found something")
	cmd.RunE = c.run(func(ctx context.Context, _ []string) (reply, error) {
		if last {
			none := recoveryReply{Recovery: chat.RecoveryReport{Items: []chat.RecoveryItem{}}}
			return c.readingAny(ctx, none.reply(), func(s *Services) (reply, error) { return s.lastRecovery(ctx) })
		}
		o := c.options(false, silent{})
		o.Reconcile = true
		s, err := c.open(ctx, o)
		if err != nil {
			return reply{}, err
		}
		return c.closing(s, func(s *Services) (reply, error) { return c.reconcile(ctx, s) })
	})
	return cmd
}

func (c *call) reconcile(ctx context.Context, s *Services) (reply, error) {
	doc := reconcileReply{Recovery: s.Recovery}
	doc.Recovery.Items = append([]chat.RecoveryItem{}, doc.Recovery.Items...)
	for _, i := range doc.Recovery.Items {
		if i.Kind == chat.RecoveredRequeued {
			doc.Requeued += i.Count
		}
	}
	stop := c.watch("reconcile", func() progress {
		queued, _, _, err := s.Queue.JobCounts(ctx)
		if err != nil {
			return progress{}
		}
		return progress{more: plural(queued, "job") + " queued"}
	})
	ran, committed, err := s.Reconciler.CatchUp(ctx)
	stop()
	if committed > 0 {
		doc.Recovery.Items = append(doc.Recovery.Items, chat.RecoveredCount(chat.RecoveredCommitted, committed))
	}
	if doc.Ran = ran; err == nil {
		doc.Queued, _, doc.Failed, err = s.Queue.JobCounts(ctx)
	}
	return reply{doc: doc, text: doc.print}, err
}

// recoveryReply is an earlier report.
type recoveryReply struct {
	Recovery chat.RecoveryReport `json:"recovery"`
}

func (s *Services) lastRecovery(ctx context.Context) (reply, error) {
	last, err := s.Reconciler.LastReport(ctx)
	last.Items = append([]chat.RecoveryItem{}, last.Items...)
	return recoveryReply{last}.reply(), err
}

func (r recoveryReply) reply() reply {
	return reply{doc: r, text: func(o *output) {
		if !r.Recovery.At.IsZero() {
			o.printf("%s\n", local(r.Recovery.At))
		}
		printItems(o, r.Recovery)
		switch {
		case r.Recovery.Clean() && r.Recovery.At.IsZero():
			o.printf("No run has found unfinished work yet.\n")
		case r.Recovery.Clean():
			o.printf("%s\n", r.Recovery.Summary())
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

func (r reconcileReply) print(o *output) {
	printItems(o, r.Recovery)
	if len(r.Recovery.Items) == 0 && r.Requeued+r.Ran+r.Queued+r.Failed == 0 {
		o.printf("No unfinished work was found.\n")
		return
	}
	o.printf("%d requeued, %d run, %d scheduled for later, %d failed.\n", r.Requeued, r.Ran, r.Queued, r.Failed)
}

type verifyReply struct {
	OK       bool           `json:"ok"`
	Findings []chat.Finding `json:"findings"`
}

func (c *call) verifyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "verify", Short: "Check everything stored against its hashes, chains and rules",
		Long: "Lists each problem with its record, and exits with 3 if there are any. It changes nothing.", Args: exactly(),
	}
	cmd.RunE = c.run(func(ctx context.Context, _ []string) (reply, error) {
		r, err := c.readingAny(ctx, verified(nil), func(s *Services) (reply, error) {
			defer c.watch("verify", nil)()
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
		if found := (problemsError{}); !errors.As(err, &found) && chat.CodeOf(err) == chat.CodeCorrupt {
			// verify also has to report a file that is too damaged to open.
			e := c.describe(err)
			return verified([]chat.Finding{{Kind: "open", Table: "", ID: "database", Message: e.Message}}), cannotOpen(e.Hint)
		}
		return r, err
	})
	return cmd
}

func verified(found []chat.Finding) reply {
	doc := verifyReply{OK: len(found) == 0, Findings: append([]chat.Finding{}, found...)}
	return reply{doc: doc, keepOnError: true, text: func(o *output) {
		for _, f := range doc.Findings {
			o.printf("%s: %s %s: %s\n", line(f.Kind), line(f.Table), line(f.ID), line(f.Message))
		}
		if doc.OK {
			o.printf("No problems found.\n")
		}
	}}
}

// cannotOpen returns the error for a database that cannot be opened. Unlike other problems, it gives no information
// about the rest of the data.
func cannotOpen(hint string) error {
	return problemsError{chat.Errorf(chat.CodeCorrupt, "cli.verify", "The data cannot be opened, so nothing in it was verified.").WithHint("%s", hint)}
}

func foundProblems(n int) error {
	if n == 0 {
		return nil
	}
	return problemsError{chat.Errorf(chat.CodeCorrupt, "cli.verify", "%s found.", plural(n, "problem")).
		WithHint("everything else is intact; a backup may contain these records")}
}

func (c *call) statsCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "stats", Short: "Count what is stored", Args: exactly()}
	cmd.RunE = c.reads(func(ctx context.Context, s *Services, _ []string) (reply, error) {
		stats, err := stats(ctx, s)
		return reply{doc: figures(stats), text: func(o *output) { printFigures(o, stats) }}, err
	})
	return cmd
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

// figures are encoded as one object, in order.
type figures []Stat

// MarshalJSON implements json.Marshaler.
func (f figures) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, s := range f {
		if i > 0 {
			out = append(out, ',')
		}
		name, err := json.Marshal(documentName(s.Name))
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(s.Value)
		if err != nil {
			return nil, err
		}
		out = append(append(append(out, name...), ':'), value...)
	}
	return append(out, '}'), nil
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

func printFigures(o *output, stats []Stat) {
	t := newTable("FIGURE", "VALUE").numbers(1)
	for _, s := range stats {
		t.add(rowName(s.Name), fmt.Sprint(s.Value))
	}
	t.print(o)
}
