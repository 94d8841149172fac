package app

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"contextinfinity/backend/api"
	"contextinfinity/backend/cli"
	"contextinfinity/backend/llm/llmtest"
	"contextinfinity/test/harness"
)

var capital = regexp.MustCompile(`[A-Z]`)

// The window and the command line show the same figures for the same turns.
func TestMetricsOfWindowAndCommandLine(t *testing.T) {
	t.Parallel()
	r := harness.NewRelay(t, harness.ChatWire, func(int) llmtest.Step { return llmtest.Stream(harness.ChatWire.TextStream(true, "It is noted.")...) }, nil)
	dir := t.TempDir()
	config := filepath.Join(dir, "config.toml")
	harness.WriteFile(t, config, []byte(harness.ChatWire.Windowed("m", r.URL, 8192)+"[librarian]\nmodel = \"\"\n[retrieval]\nscope = \"all\"\n"))
	p := openPage(t, dir)
	p.say(api.SendRequest{Text: rememberedTexts[0], Model: "m"})
	branch := p.say(api.SendRequest{Text: "What did the ryokan cost?", Model: "m"}).BranchID

	app := commandLine()
	var out, errs bytes.Buffer
	app.In, app.Out, app.Err = strings.NewReader(""), &out, &errs
	if code := cli.Run(t.Context(), app, []string{"--data-dir", dir, "--config", config, "metrics", "--branch", branch, "--json"}); code != 0 {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	var printed struct{ Turns []map[string]any }
	if err := json.Unmarshal(out.Bytes(), &printed); err != nil {
		t.Fatal(err)
	}
	shown := must[api.ActivityPanel](t)(p.inspect.Activity(branch)).Turns
	if len(shown) == 0 || len(shown) != len(printed.Turns) || shown[0].Candidates == 0 || shown[0].InputTokens == 0 {
		t.Fatalf("the window shows %+v, the command line\n%s", shown, out.String())
	}
	for i, turn := range shown {
		raw, err := json.Marshal(turn)
		if err != nil {
			t.Fatal(err)
		}
		var fields map[string]any
		if err := json.Unmarshal(raw, &fields); err != nil {
			t.Fatal(err)
		}
		for name, want := range fields {
			if got := printedFigure(printed.Turns[i], name); got != want && !(got == nil && isZero(want)) {
				t.Errorf("turn #%d, %s: the window shows %v, the command line %v", turn.TurnSeq, name, want, got)
			}
		}
	}
}

// printedFigure returns a figure of the command line by its name in the window.
func printedFigure(turn map[string]any, name string) any {
	name = strings.ToLower(capital.ReplaceAllString(name, "_$0"))
	usage, _ := turn["usage"].(map[string]any)
	switch name {
	case "cached_tokens":
		return usage["cached_input_tokens"]
	case "input_tokens", "output_tokens":
		return usage[name]
	}
	return turn[name]
}

func isZero(v any) bool { return v == 0.0 || v == "" || v == false }
