package cli

import (
	"cmp"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/evaluation"
)

// evalFlags are the files and limits of a measurement.
type evalFlags struct {
	corpus  string
	queries string
	out     string
	budget  int
}

// evalReply summarizes a measurement; the packed texts are in the file.
type evalReply struct {
	evaluation.Report
	Out string `json:"out"`
}

func (c *call) evalCommand() *cobra.Command {
	return group("eval", "Measure memory with your own conversations and questions", c.evalRecallCommand())
}

const evalUse = program + " eval recall --corpus FILE --queries FILE --out FILE"

func (c *call) evalRecallCommand() *cobra.Command {
	var f evalFlags
	cmd := &cobra.Command{
		Use: strings.TrimPrefix(evalUse, program+" eval "), Short: "Write what recall packs for each question", Args: exactly(),
		Long: `Imports a corpus into a throw-away store, asks every question through the same
search and packing that a prompt is made with, with the configured embedder, and
writes a line {"id","packed"} for each. Your own sessions are neither read nor changed.

CORPUS has one message per line: {"conv","session","date","speaker","text"}. Speakers called
user and assistant make turns of a question and its answer; others, turns of two messages.
QUERIES has one question per line: {"id","conv","query"}; without "conv" the whole corpus is
searched. A token of the budget is four characters.`,
	}
	cmd.Flags().StringVar(&f.corpus, "corpus", "", "the messages, a `FILE` of JSON lines")
	cmd.Flags().StringVar(&f.queries, "queries", "", "the questions, a `FILE` of JSON lines")
	cmd.Flags().StringVar(&f.out, "out", "", "the `FILE` to write")
	cmd.Flags().IntVar(&f.budget, "budget", 6000, "how many tokens may be packed for a question")
	cmd.RunE = c.run(func(ctx context.Context, _ []string) (reply, error) { return c.evalRecall(ctx, f) })
	return cmd
}

func (f evalFlags) check() error {
	switch {
	case f.corpus == "":
		return usageHint(evalUse, "--corpus is missing.")
	case f.queries == "":
		return usageHint(evalUse, "--queries is missing.")
	case f.out == "":
		return usageHint(evalUse, "--out is missing.")
	case f.budget < 1:
		return usagef("--budget must be at least 1 token.")
	}
	return nil
}

func (c *call) evalRecall(ctx context.Context, f evalFlags) (_ reply, err error) {
	if err := f.check(); err != nil {
		return reply{}, err
	}
	corpus, err := readLines(f.corpus, evaluation.ReadCorpus)
	if err != nil {
		return reply{}, err
	}
	questions, err := readLines(f.queries, evaluation.ReadQuestions)
	if err != nil {
		return reply{}, err
	}
	if err := f.checkOutput(); err != nil {
		return reply{}, err
	}
	out, err := os.OpenFile(f.out, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600) // #nosec G304 -- the user names the file
	if err != nil {
		return reply{}, chat.WrapError(chat.CodeInvalid, "eval.write", err, "The file cannot be written: %s.", err)
	}
	defer func() {
		if cerr := out.Close(); err == nil && cerr != nil {
			err = outputError(cerr)
		}
	}()
	bench, err := c.app.OpenBench(ctx, c.options(false, silent{}))
	if err != nil {
		return reply{}, err
	}
	report, err := bench.Run(ctx, corpus, questions, f.budget, out)
	if cerr := bench.Close(); err == nil {
		err = cerr
	}
	doc := evalReply{Report: report, Out: f.out}
	return reply{doc: doc, text: doc.print}, err
}

// checkOutput returns an error if the output would overwrite an input.
func (f evalFlags) checkOutput() error {
	out, err := os.Stat(f.out)
	if err != nil {
		return nil // the output does not exist yet
	}
	for _, in := range []string{f.corpus, f.queries} {
		if read, err := os.Stat(in); err == nil && os.SameFile(out, read) {
			return usagef("--out names %s, which is read: nothing was written.", in)
		}
	}
	return nil
}

// readLines reads a file of JSON lines.
func readLines[T any](path string, read func(io.Reader, string) (T, error)) (T, error) {
	in, err := os.Open(filepath.Clean(path))
	if err != nil {
		var none T
		return none, readError("eval.read", path, err, "nothing was written")
	}
	defer func() { _ = in.Close() }()
	return read(in, path)
}

func (r evalReply) print(o *output) {
	embedder := cmp.Or(r.Embedder, "words alone")
	t := newTable("FIGURE", "VALUE").numbers(1)
	t.add("messages", decimal(int64(r.Messages)))
	t.add("turns", decimal(int64(r.Turns)))
	t.add("questions", decimal(int64(r.Questions)))
	t.add("nothing packed for", decimal(int64(r.Unanswered)))
	t.add("budget, tokens", decimal(int64(r.Budget)))
	t.add("import and index, s", oneDigit(float64(r.ImportMs)/1000))
	t.add("search, p50 ms", oneDigit(r.P50))
	t.add("search, p95 ms", oneDigit(r.P95))
	t.print(o)
	if r.Unread.Count > 0 {
		o.printf("%s could not be read, for example %s; their turns follow the ones before them.\n",
			plural(r.Unread.Count, "date"), line(r.Unread.Named()))
	}
	o.printf("Searched with %s. Written: %s\n", line(embedder), line(r.Out))
}
