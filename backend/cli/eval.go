package cli

import (
	"cmp"
	"context"
	"io"
	"os"
	"path/filepath"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/evaluation"
	"contextinfinity/backend/internal/plainfile"
)

func evalVerb() verb {
	const use = "recall --corpus FILE --queries FILE --out FILE"
	return verb{
		use:   "eval",
		short: "Measure memory with your own conversations and questions",
		verbs: []verb{{
			use:   use,
			short: "Write what recall packs for each question",
			long: `Imports a corpus into a throw-away store, asks every question through the same
search and packing that a prompt is made with, with the configured embedder, and
writes a line {"id","packed"} for each. Your own sessions are neither read nor changed.

CORPUS has one message per line: {"conv","session","date","speaker","text"}. Speakers called
user and assistant make turns of a question and its answer; others, turns of two messages.
QUERIES has one question per line: {"id","conv","query"}; without "conv" the whole corpus is
searched. A token of the budget is four characters.`,
			flags: []flag{
				textFlag("corpus", "the messages, a `FILE` of JSON lines"),
				textFlag("queries", "the questions, a `FILE` of JSON lines"),
				textFlag("out", "the `FILE` to write"),
				numberFlag("budget", 1, 6000, "how many tokens may be packed for a question"),
			},
			prepare: func(_ context.Context, r *run) error {
				for _, name := range []string{"corpus", "queries", "out"} {
					if r.text(name) == "" {
						return usageHint(program+" eval "+use, "--%s is missing.", name)
					}
				}
				return nil
			},
			do: evalRecall,
		}},
	}
}

func evalRecall(ctx context.Context, r *run) (_ reply, err error) {
	corpus, err := readLines(r.text("corpus"), evaluation.ReadCorpus)
	if err != nil {
		return reply{}, err
	}
	questions, err := readLines(r.text("queries"), evaluation.ReadQuestions)
	if err != nil {
		return reply{}, err
	}
	path := r.text("out")
	if err := checkOutput(path, r.text("corpus"), r.text("queries")); err != nil {
		return reply{}, err
	}
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|plainfile.NonBlocking, 0o600) // #nosec G304 -- the user names the file
	if err != nil {
		return reply{}, chat.WrapError(chat.CodeInvalid, "eval.write", err, "The file cannot be written: %s.", err)
	}
	defer func() {
		if cerr := out.Close(); err == nil && cerr != nil {
			err = outputError(cerr)
		}
	}()
	bench, err := r.app.OpenBench(ctx, r.options(false, silent{}))
	if err != nil {
		return reply{}, err
	}
	report, err := bench.Run(ctx, corpus, questions, r.number("budget"), out)
	if cerr := bench.Close(); err == nil {
		err = cerr
	}
	x := evaluated{Report: report, Out: path}
	return reply{doc: x, text: x.print}, err
}

// checkOutput returns an error if the output would overwrite an input.
func checkOutput(path string, inputs ...string) error {
	out, err := os.Stat(path)
	if err != nil {
		return nil // the output does not exist yet
	}
	for _, in := range inputs {
		if read, err := os.Stat(in); err == nil && os.SameFile(out, read) {
			return usagef("--out names %s, which is read: nothing was written.", in)
		}
	}
	return nil
}

// evaluated is the summary of a measurement; the packed texts are in the file.
type evaluated struct {
	evaluation.Report
	Out string `json:"out"`
}

// readLines reads a file of JSON lines.
func readLines[T any](path string, read func(io.Reader, string) (T, error)) (T, error) {
	in, err := plainfile.Open(filepath.Clean(path))
	if err != nil {
		var none T
		return none, readError("eval.read", path, err, "nothing was written")
	}
	defer func() { _ = in.Close() }()
	return read(in, path)
}

func (r evaluated) print(o *output) {
	t := newTable("FIGURE|>VALUE")
	t.add("messages", r.Messages)
	t.add("turns", r.Turns)
	t.add("questions", r.Questions)
	t.add("nothing packed for", r.Unanswered)
	t.add("budget, tokens", r.Budget)
	t.add("import and index, s", oneDigit(float64(r.ImportMs)/1000))
	t.add("search, p50 ms", oneDigit(r.P50))
	t.add("search, p95 ms", oneDigit(r.P95))
	t.print(o)
	if r.Unread.Count > 0 {
		o.printf("%s could not be read, for example %s; their turns follow the ones before them.\n",
			plural(r.Unread.Count, "date"), line(r.Unread.Named()))
	}
	o.printf("Searched with %s. Written: %s\n", line(cmp.Or(r.Embedder, "words alone")), line(r.Out))
}
