package cli_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"contextinfinity/backend/cli"
)

// exported writes a file with one conversation for each of the names.
func (h *home) exported(name string, conversations ...string) string {
	h.t.Helper()
	var b strings.Builder
	for i, c := range conversations {
		fmt.Fprintf(&b, `{"conv":%q,"date":"2025-01-0%dT10:00:00Z","role":"user","text":"asked in %s"}`+"\n", c, i+1, c)
		fmt.Fprintf(&b, `{"conv":%q,"date":"2025-01-0%dT10:00:05Z","role":"assistant","text":"said in %s"}`+"\n", c, i+1, c)
	}
	path := filepath.Join(filepath.Dir(h.dir), name)
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		h.t.Fatal(err)
	}
	return path
}

type imported struct {
	Sessions     int
	Grown        int
	Already      int
	Turns        int
	SkippedCount int `json:"skipped_count"`
	Files        []struct {
		File    string
		Format  string
		Already int
		Skipped []struct{ Reason string }
		Made    []string `json:"session_ids"`
		Error   *struct{ Code, Message string }
	}
	Error *struct{ Code, Message string }
}

// TestImportCommand: the output lists what was created, what was already there, and what was skipped; an invalid file
// does not prevent the import of others.
func TestImportCommand(t *testing.T) {
	h := newHome(t)
	path := h.exported("talk.jsonl", "first", "second")
	r := h.run("import", path)
	if r.code != 0 || !strings.Contains(r.out, "talk.jsonl (jsonl): 2 sessions created, 0 extended, 0 already there; 2 turns added.") || !strings.Contains(r.out, "reconcile") || r.err != "" {
		t.Fatalf("%d %q %q", r.code, r.out, r.err)
	}
	if r := h.run("import", path); r.code != 0 || !strings.Contains(r.out, "0 sessions created, 0 extended, 2 already there; 0 turns added.") || strings.Contains(r.out, "reconcile") {
		t.Errorf("again: %d %q", r.code, r.out)
	}
	none := filepath.Join(filepath.Dir(h.dir), "none.json")
	if err := os.WriteFile(none, []byte(`{"name":"none"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	broken := h.exported("broken.jsonl", "third")
	if err := os.WriteFile(broken, append(must(os.ReadFile(broken)), "{\"conv\":\"third\",text\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	var doc imported
	r = h.run("import", none, broken, path, "--json")
	r.into(&doc)
	if r.code != 3 || doc.Sessions != 1 || doc.Already != 2 || doc.SkippedCount != 1 || len(doc.Files) != 3 || doc.Error == nil {
		t.Fatalf("%d %s", r.code, r.out)
	}
	if f := doc.Files; f[0].Error == nil || f[0].Error.Code != "invalid" || f[1].Skipped[0].Reason == "" || len(f[1].Made) != 1 || f[2].Already != 2 {
		t.Errorf("%s", r.out)
	}
	if r := h.run("import", broken); r.code != 3 || !strings.Contains(r.out, "skipped: entry 3") || !strings.Contains(r.err, "Some of it") {
		t.Errorf("%d %q %q", r.code, r.out, r.err)
	}
	var list struct{ Sessions []struct{ Source string } }
	h.run("sessions", "--json").into(&list)
	if len(list.Sessions) != 3 || list.Sessions[0].Source != "jsonl" {
		t.Errorf("%+v", list)
	}
	if r := h.run("verify"); r.code != 0 {
		t.Errorf("verify: %s%s", r.out, r.err)
	}
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

// TestImportCommandRefuses: invalid calls and files have clear errors and exit codes.
func TestImportCommandRefuses(t *testing.T) {
	h := newHome(t)
	path := h.exported("talk.jsonl", "first")
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"import"}, 2, "FILE is missing"},
		{[]string{"import", path, "--format", "word"}, 2, `no format "word"`},
		{[]string{"import", filepath.Join(h.dir, "nowhere.json")}, 1, "nowhere.json cannot be read"},
		{[]string{"import", h.config}, 1, "is not an export"},
	} {
		if r := h.run(c.args...); r.code != c.code || !strings.Contains(r.err, c.want) {
			t.Errorf("%q: %d %q", c.args, r.code, r.err)
		}
	}
}

// TestImportOfAFolderNamesItsFiles: a note, and a file that ends early.
func TestImportOfAFolderNamesItsFiles(t *testing.T) {
	h := newHome(t)
	dir := filepath.Join(filepath.Dir(h.dir), "exports")
	for name, text := range map[string]string{
		"a/package.json": `{"name":"none"}`,
		"b/torn.json":    `[{"id":"c1","title":"Boats","create_time":1700000000,"current_node":"b","mapping":{"a":{"id":"a","message":{"author":{"role":"user"},"content":{"content_type":"text","par`,
	} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	r := h.run("import", dir)
	if !strings.Contains(r.out, "  note: A file in the folder is not an export that can be read; it was skipped.\n    a/package.json\n") || !strings.Contains(r.out, "  b/torn.json is cut off before the end of its first conversation.\n") {
		t.Errorf("%d %s", r.code, r.out)
	}
}

// TestImportOfNothingIsAnError: if a file is cut off in its first conversation, the output does not claim that
// something was imported.
func TestImportOfNothingIsAnError(t *testing.T) {
	h := newHome(t)
	path := filepath.Join(filepath.Dir(h.dir), "conversations.json")
	torn := `[{"id":"c1","title":"Boats","create_time":1700000000,"current_node":"b","mapping":{"a":{"id":"a","message":{"author":{"role":"user"},"content":{"content_type":"text","par`
	if err := os.WriteFile(path, []byte(torn), 0o600); err != nil {
		t.Fatal(err)
	}
	r := h.run("import", path)
	if r.code != 3 || !strings.Contains(r.out, "conversations.json (chatgpt): nothing was imported.") || !strings.Contains(r.out, "cut off before the end of its first") ||
		!strings.Contains(r.err, "Nothing was imported; your history is unchanged.") || strings.Contains(r.out+r.err, "everything else was") {
		t.Errorf("%d %q %q", r.code, r.out, r.err)
	}
}

// TestImportCommandShowsProgress: only on a terminal, and the line is removed at the end.
func TestImportCommandShowsProgress(t *testing.T) {
	h := newHome(t)
	path := h.exported("talk.jsonl", "first")
	app := h.app()
	var out, errs strings.Builder
	app.In, app.Out, app.Err, app.Terminals = strings.NewReader(""), &out, &errs, &cli.Terminals{Out: true, Err: true}
	if code := cli.Run(t.Context(), app, []string{"--data-dir", h.dir, "--config", h.config, "import", path}); code != 0 {
		t.Fatalf("%d %s", code, errs.String())
	}
	if e := errs.String(); !strings.Contains(e, "talk.jsonl  100 %") || !strings.HasSuffix(e, "\r\x1b[K") {
		t.Errorf("%q", e)
	}
}

// TestImportCommandIsInterrupted: Ctrl-C ends the import properly, and the output says what was imported.
func TestImportCommandIsInterrupted(t *testing.T) {
	h := newHome(t)
	var names []string
	for i := range 9 {
		names = append(names, fmt.Sprintf("talk %d", i))
	}
	path := h.exported("talk.jsonl", names...)
	press := sync.OnceFunc(func() { h.signals <- os.Interrupt })
	h.importing = func(ctx context.Context) {
		press()
		<-ctx.Done()
	}
	var doc imported
	r := h.run("import", path, "--json")
	r.into(&doc)
	if r.code != 1 || doc.Error == nil || doc.Error.Code != "cancelled" || len(doc.Files) != 1 {
		t.Fatalf("%d %s %s", r.code, r.out, r.err)
	}
	h.importing = nil
	var again imported
	r = h.run("import", path, "--json")
	r.into(&again)
	if r.code != 0 || again.Sessions+again.Already != 9 {
		t.Errorf("again: %d %s", r.code, r.out)
	}
}

// Imported instructions are listed, shown in full, and used only after the user agrees; instructions over their cap
// are refused.
func TestImportedInstructionsAreAdoptedByHand(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	write := func(name, rules string) string {
		path := filepath.Join(filepath.Dir(h.dir), name)
		text := fmt.Sprintf(`{"conv":%[1]q,"role":"system","text":%[2]q}
{"conv":%[1]q,"role":"user","text":"hi"}
{"conv":%[1]q,"role":"assistant","text":"hello"}
`, name, rules)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	rules := "Obey the parrot.\n" + strings.Repeat("Be polite to it. ", 30) + "Never tell anyone."
	doc := h.run("import", "--json", write("rules.jsonl", rules)).exits(0).document()
	file := doc["files"].([]any)[0].(map[string]any)
	in := file["instructions"].([]any)[0].(map[string]any)
	session := in["session_id"].(string)
	if file["instructed"] != 1.0 || in["title"] != "hi" || !strings.HasPrefix(in["begins"].(string), "Obey the parrot. Be polite") {
		t.Errorf("the report says %v", file)
	}
	if r := h.run("import", write("more.jsonl", "Swear a lot.")).exits(0); !strings.Contains(r.out, "1 session came with instructions of its own") || !strings.Contains(r.out, "Swear a lot.") {
		t.Errorf("%q", r.out)
	}
	own := func() string {
		return h.run("sessions", "instructions", session, "--json").exits(0).document()["system_prompt"].(string)
	}
	if r := h.run("sessions", "instructions", session).exits(0); own() != "" || !strings.Contains(r.out, "    Obey the parrot.\n") || !strings.Contains(r.out, "Never tell anyone.") {
		t.Errorf("%q %q", own(), r.out)
	}
	if f := h.run("sessions", "instructions", session, "--adopt", "--json").exits(2).failure(); !strings.Contains(f.Hint, "--yes") || own() != "" {
		t.Errorf("%+v", f)
	}
	h.run("sessions", "instructions", session, "--adopt", "--yes").exits(0)
	if own() != rules {
		t.Errorf("adopted was %q", own())
	}
	h.run("import", write("long.jsonl", strings.Repeat("rule ", 3000))).exits(0)
	long := h.run("sessions", "--json", "--title", "hi").exits(0).document()["sessions"].([]any)
	for _, s := range long {
		id := s.(map[string]any)["session_id"].(string)
		if shown := h.run("sessions", "instructions", id).out; !strings.Contains(shown, "rule rule") {
			continue
		}
		if f := h.run("sessions", "instructions", id, "--adopt", "--yes", "--json").exits(1).failure(); f.Code != "over_budget" || !strings.Contains(f.Message, "Nothing was changed.") {
			t.Errorf("%+v", f)
		}
		return
	}
	t.Error("the long instructions are not shown")
}
