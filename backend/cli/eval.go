package cli

import (
	"cmp"
	"context"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

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
writes a line {"id","packed","hits"} for each. Your own sessions are neither read nor changed.

CORPUS has one message per line: {"conv","session","date","speaker","text"}. Speakers called
user and assistant make turns of a question and its answer; others, turns of two messages.
QUERIES has one question per line: {"id","conv","query"}; without "conv" the whole corpus is
searched. A token of the budget is four characters.

Several budgets or weights of vectors are measured on one import: each combination then
has its own file, --out with the budget and the weight before its ending.`,
			flags: []flag{
				textFlag("corpus", "the messages, a `FILE` of JSON lines"),
				textFlag("queries", "the questions, a `FILE` of JSON lines"),
				textFlag("out", "the `FILE` to write"),
				listFlag("budget", "how many `TOKENS` may be packed for a question, 6000 unless given; can be repeated"),
				listFlag("vector-weight", "the `SHARE` of vectors in a score, 0 to 1, instead of the configured one; can be repeated"),
			},
			prepare: func(_ context.Context, r *run) error {
				for _, name := range []string{"corpus", "queries", "out"} {
					if r.text(name) == "" {
						return usageHint(program+" eval "+use, "--%s is missing.", name)
					}
				}
				_, err := measurementsOf(r)
				return err
			},
			do: evalRecall,
		}},
	}
}

// measurement is a combination of a budget, a weight of vectors and a file.
type measurement struct {
	budget int
	weight float64 // negative: as configured
	out    string
}

// measurementsOf returns the combinations that are asked for.
func measurementsOf(r *run) ([]measurement, error) {
	budgets, weights := r.list("budget"), r.list("vector-weight")
	if len(budgets) == 0 {
		budgets = []string{"6000"}
	}
	if len(weights) == 0 {
		weights = []string{""}
	}
	var out []measurement
	for _, b := range budgets {
		budget, err := strconv.Atoi(b)
		if err != nil || budget < 1 {
			return nil, usagef("--budget must be a number of tokens, not %s.", line(b))
		}
		for _, w := range weights {
			m := measurement{budget, -1, r.text("out")}
			if w != "" {
				if m.weight, err = strconv.ParseFloat(w, 64); err != nil || !(m.weight >= 0 && m.weight <= 1) {
					return nil, usagef("--vector-weight must be a number from 0 to 1, not %s.", line(w))
				}
			}
			if len(budgets)*len(weights) > 1 {
				ending := filepath.Ext(m.out)
				m.out = strings.TrimSuffix(m.out, ending) + "." + b + strings.TrimSuffix("."+w, ".") + ending
			}
			out = append(out, m)
		}
	}
	return out, nil
}

func evalRecall(ctx context.Context, r *run) (_ reply, err error) {
	list, err := measurementsOf(r)
	if err != nil {
		return reply{}, err
	}
	corpus, err := readLines(r.text("corpus"), evaluation.ReadCorpus)
	if err != nil {
		return reply{}, err
	}
	questions, err := readLines(r.text("queries"), evaluation.ReadQuestions)
	if err != nil {
		return reply{}, err
	}
	var files []*os.File
	defer func() {
		for _, f := range files {
			if cerr := f.Close(); err == nil && cerr != nil {
				err = outputError(cerr)
			}
		}
	}()
	for _, m := range list {
		if err := checkOutput(m.out, r.text("corpus"), r.text("queries")); err != nil {
			return reply{}, err
		}
		out, err := os.OpenFile(m.out, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|plainfile.NonBlocking, 0o600) // #nosec G304 -- the user names the file
		if err != nil {
			return reply{}, chat.WrapError(chat.CodeInvalid, "eval.write", err, "The file cannot be written: %s.", err)
		}
		files = append(files, out)
	}
	bench, err := r.app.OpenBench(ctx, r.options(false, silent{}))
	if err != nil {
		return reply{}, err
	}
	var done evaluations
	in, err := bench.Import(ctx, corpus)
	for i, m := range list {
		if err != nil {
			break
		}
		x := evaluated{Out: m.out}
		x.Report, err = bench.Ask(ctx, in, questions, m.budget, m.weight, files[i])
		done = append(done, x)
	}
	if cerr := bench.Close(); err == nil {
		err = cerr
	}
	if len(done) == 1 {
		return reply{doc: done[0], text: done.print}, err
	}
	return reply{doc: fields{{"measurements", done}}, text: done.print}, err
}

// evaluations are the summaries of several measurements of one import.
type evaluations []evaluated

func (list evaluations) print(o *output) {
	for _, x := range list {
		x.print(o)
	}
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
	if r.VectorWeight >= 0 {
		t.add("weight of vectors", r.VectorWeight)
	}
	t.add("import and index, s", oneDigit(float64(r.ImportMs)/1000))
	t.add("search, p50 ms", oneDigit(r.P50))
	t.add("search, p95 ms", oneDigit(r.P95))
	t.print(o)
	o.printIf(r.Unread.Count > 0, "%s could not be read, for example %s; their turns follow the ones before them.\n",
		plural(r.Unread.Count, "date"), line(r.Unread.Named()))
	o.printf("Searched with %s. Written: %s\n", line(cmp.Or(r.Embedder, "words alone")), line(r.Out))
}
