package config

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/atomicfile"
	"contextinfinity/backend/internal/faultfs"
)

func noEnv(string) string { return "" }

func open(t *testing.T, text string) *Store {
	t.Helper()
	s, err := Open(Options{Path: writeFile(t, text), DataDir: t.TempDir(), Getenv: noEnv})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func content(t *testing.T, s *Store) string {
	t.Helper()
	b, err := os.ReadFile(s.Path())
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestOpenWithoutAFileCreatesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "er")
	s, err := Open(Options{Path: filepath.Join(dir, "config.toml"), Getenv: noEnv})
	if err != nil || s.Config().Budget.WorkingSetTokens != 50000 {
		t.Fatalf("error %v", err)
	}
	if s.Config().DataDir != DefaultDataDir() {
		t.Fatalf("data directory %s", s.Config().DataDir)
	}
	if _, err := os.Stat(filepath.Dir(dir)); !os.IsNotExist(err) {
		t.Fatal("opening created a folder")
	}
	if err := s.Set("stream.fsync_ms", "500"); err != nil {
		t.Fatal(err)
	}
	if got := content(t, s); got != "[stream]\nfsync_ms = 500\n" {
		t.Fatalf("file %q", got)
	}
	if info, _ := os.Stat(s.Path()); info.Mode().Perm() != 0o600 {
		t.Fatalf("mode %v", info.Mode())
	}
}

func TestFaultyFileGivesDefaultsAndIsNeverOverwritten(t *testing.T) {
	const text = "[stream]\nfsync_ms = 'x'\n"
	path := writeFile(t, text)
	s, err := Open(Options{Path: path, Getenv: noEnv})
	if chat.CodeOf(err) != chat.CodeConfig || !strings.Contains(err.Error(), path+":2: stream.fsync_ms") {
		t.Fatalf("error %v", err)
	}
	if s.Err() == nil || s.Config().Stream.FsyncMs != 2000 || s.Config().DataDir == "" {
		t.Fatal("the defaults do not apply")
	}
	for _, edit := range []func() error{
		func() error { return s.Set("stream.flush_ms", "5") },
		func() error { return s.Reset("stream.fsync_ms") },
		func() error {
			return s.SaveModel(Model{Name: "m", Provider: "openai", ModelID: "x"})
		},
		func() error { return s.RemoveModel("m") },
	} {
		err := edit()
		if chat.CodeOf(err) != chat.CodeConfig || !strings.Contains(err.Error(), "was not changed") {
			t.Fatalf("error %v", err)
		}
	}
	if content(t, s) != text {
		t.Fatal("the file was overwritten")
	}
}

func TestSetRefusesBadValuesAndChangesNothing(t *testing.T) {
	s := open(t, "[budget]\ncompact_at = 0.9 # mine\n")
	before := content(t, s)
	for key, value := range map[string]string{
		"budget.compact_at": "2", "budget.compact_to": "0.92", "budget.working_set_tokens": "many",
		"stream.durability": "sometimes", "context.infinity": "perhaps", "redaction.patterns": `["("]`,
		"general.default_model": "nobody", "tools.mode": "all", "budget.compact": "1", "retrieval.vector_weight": "0.1",
	} {
		err := s.Set(key, value)
		if chat.CodeOf(err) != chat.CodeInvalid || !strings.Contains(err.Error(), "nothing was changed") {
			t.Errorf("%s = %s: %v", key, value, err)
		}
	}
	if content(t, s) != before || s.Config().Budget.CompactAt != 0.9 {
		t.Fatal("something was changed")
	}
}

func TestSetThenResetRestoresTheFile(t *testing.T) {
	text := "# my settings\n\n" + strings.ReplaceAll(srd18, "\n[stream]", "\n# streaming\n[stream] # fast")
	s := open(t, text)
	values := map[string]string{"int": "100", "float": "0.6", "bool": "false", "choice": "", "string": "", "list": `["a b", "c\\d"]`}
	for _, info := range Settings() {
		value := values[info.Type]
		switch {
		case info.Type == TypeChoice:
			value = info.Choices[len(info.Choices)-1]
		case info.Type == TypeInt && (info.Min > 100 || info.Max < 100):
			value = format(int(info.Min + 1))
		case info.Key == "general.data_dir":
			value = "/elsewhere \"x\""
		case info.Key == "tools.folders":
			value = `["/a b"]`
		case info.Key == "general.default_model", info.Key == "librarian.model":
			value = Recall
		}
		if s.Config().Origin(info.Key) == OriginFile {
			continue
		}
		if err := s.Set(info.Key, value); err != nil {
			if !strings.Contains(err.Error(), "must") {
				t.Errorf("%s = %q: %v", info.Key, value, err)
			}
			continue
		}
		if got := settingOf(t, s, info.Key); got.Value != value || got.Origin != OriginFile {
			t.Errorf("%s = %q, origin %s, want %q", info.Key, got.Value, got.Origin, value)
		}
		if err := s.Reset(info.Key); err != nil {
			t.Errorf("reset %s: %v", info.Key, err)
		}
	}
	// Headers of new sections stay; every original line is unchanged.
	if got := content(t, s); !strings.HasPrefix(got, text) {
		t.Fatalf("got\n%s\nwant it to begin with\n%s", got, text)
	}
}

func settingOf(t *testing.T, s *Store, key string) SettingInfo {
	t.Helper()
	for _, info := range s.Config().Settings() {
		if info.Key == key {
			return info
		}
	}
	t.Fatalf("no setting %s", key)
	return SettingInfo{}
}

func TestFullDiskLeavesFileAndConfiguration(t *testing.T) {
	s := open(t, "[stream]\nfsync_ms = 111\n")
	s.write = atomicfile.Writer{Sync: func(*faultfs.File) error { return syscall.ENOSPC }}.Write
	if err := s.Set("stream.fsync_ms", "222"); chat.CodeOf(err) != chat.CodeNoSpace {
		t.Fatalf("error %v", err)
	}
	if s.Config().Stream.FsyncMs != 111 || content(t, s) != "[stream]\nfsync_ms = 111\n" {
		t.Fatal("the change was applied in part")
	}
}

func TestSaveModelRoundTrip(t *testing.T) {
	s := open(t, "# mine\n[models.local] # box\nmodel_id = \"old\" # id\nprovider = \"openai\"\nmax_output = 99\n\n[models.local.provider_options]\nx = 1\n\n[stream]\n")
	m := Model{
		Name: "local", Provider: ProviderChatCompletions, ModelID: "llama3.1:8b", BaseURL: "http://127.0.0.1:11434/v1",
		ContextLimit: 8192, Options: map[string]any{
			"top_p": 0.5, "keep_alive": "5m", "max_tokens": nil,
			"options": map[string]any{"num_ctx": float64(8192), "stop": []any{"a", "b"}},
		},
	}
	if err := s.SaveModel(m); err != nil {
		t.Fatal(err)
	}
	want := "# mine\n[models.local] # box\nmodel_id = \"llama3.1:8b\" # id\nprovider = \"chatcompletions\"\n"
	if got := content(t, s); !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "[stream]\n") {
		t.Fatalf("file\n%s", got)
	}
	got, ok := s.Config().Model("local", nil)
	got.omit, got.Headers = nil, nil
	m.Options["options"] = map[string]any{"num_ctx": int64(8192), "stop": []any{"a", "b"}}
	if !ok || !reflect.DeepEqual(got, m) {
		t.Fatalf("got  %+v\nwant %+v", got, m)
	}
	before := content(t, s)
	if err := s.SaveModel(m); err != nil || content(t, s) != before {
		t.Fatalf("saving the same again changed the file (%v):\n%s", err, content(t, s))
	}
}

func TestSaveModelQuotesAName(t *testing.T) {
	s := open(t, "")
	m := Model{Name: "llama-3.3", Provider: ProviderChatCompletions, ModelID: "llama-3.3", BaseURL: "http://127.0.0.1:11434/v1"}
	if err := s.SaveModel(m); err != nil {
		t.Fatal(err)
	}
	m.ContextLimit = 4096
	if err := s.SaveModel(m); err != nil {
		t.Fatal(err)
	}
	if got, ok := s.Config().Model("llama-3.3", nil); !ok || got.ContextLimit != 4096 || strings.Count(content(t, s), `[models."llama-3.3"]`) != 1 {
		t.Fatalf("%+v in\n%s", got, content(t, s))
	}
}

func TestSaveModelRefuses(t *testing.T) {
	s := open(t, "")
	for name, m := range map[string]Model{
		"recall":   {Name: Recall, Provider: "recall"},
		"no name":  {Provider: "openai", ModelID: "x"},
		"no id":    {Name: "m", Provider: "openai"},
		"provider": {Name: "m", Provider: "x", ModelID: "x"},
		"null":     {Name: "m", Provider: "openai", ModelID: "x", Options: map[string]any{"a": map[string]any{"b": nil}}},
	} {
		if err := s.SaveModel(m); chat.CodeOf(err) != chat.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	if content(t, s) != "" {
		t.Fatal("something was written")
	}
}

func TestRemoveModel(t *testing.T) {
	s := open(t, "[general]\ndefault_model = \"m\"\n\n[models.m]\nprovider = \"openai\"\nmodel_id = \"x\"\n\n[librarian]\nmodel = \"m\"\ncommit = \"lazy\"\n")
	if err := s.RemoveModel("m"); err != nil {
		t.Fatal(err)
	}
	if got := content(t, s); got != "[general]\n\n[librarian]\ncommit = \"lazy\"\n" {
		t.Fatalf("file %q", got)
	}
	if err := s.RemoveModel("m"); chat.CodeOf(err) != chat.CodeNotFound {
		t.Fatalf("again: %v", err)
	}
	if err := s.RemoveModel("sonnet"); chat.CodeOf(err) != chat.CodeInvalid {
		t.Fatalf("built in: %v", err)
	}
}

func TestSubscribersSeeEachChange(t *testing.T) {
	s := open(t, "")
	var seen []int
	cancel := s.Subscribe(func(c *Config) { seen = append(seen, c.Stream.FsyncMs) })
	for _, v := range []string{"300", "400"} {
		if err := s.Set("stream.fsync_ms", v); err != nil {
			t.Fatal(err)
		}
	}
	_ = s.Set("stream.fsync_ms", "no")
	cancel()
	if err := s.Set("stream.fsync_ms", "500"); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(seen, []int{300, 400}) {
		t.Fatalf("saw %v", seen)
	}
}

func TestConcurrentEditsAreAllSaved(t *testing.T) {
	s := open(t, "# top\n")
	keys := []string{"stream.fsync_ms", "stream.idle_timeout_s", "budget.working_set_tokens", "librarian.target_tokens"}
	var wg sync.WaitGroup
	for _, k := range keys {
		wg.Go(func() {
			if err := s.Set(k, "1111"); err != nil {
				t.Error(err)
			}
			_ = s.Config().Settings()
		})
	}
	wg.Wait()
	for _, k := range keys {
		if got := settingOf(t, s, k); got.Value != "1111" {
			t.Errorf("%s = %s", k, got.Value)
		}
	}
}

func TestDataDirOrder(t *testing.T) {
	home, err := os.UserHomeDir()
	if err != nil {
		t.Skip("no home directory:", err)
	}
	path := writeFile(t, "[general]\ndata_dir = \"~/ci\"\n")
	s, err := Open(Options{Path: path, Getenv: noEnv})
	if err != nil || s.Config().DataDir != filepath.Join(home, "ci") {
		t.Fatalf("%s, %v", s.Config().DataDir, err)
	}
	s, err = Open(Options{Path: path, DataDir: "relative", Getenv: noEnv})
	if err != nil || !filepath.IsAbs(s.Config().DataDir) || filepath.Base(s.Config().DataDir) != "relative" {
		t.Fatalf("%s, %v", s.Config().DataDir, err)
	}
}

func TestEnvironmentTurnsInfinityOff(t *testing.T) {
	s, err := Open(Options{Path: writeFile(t, "[context]\ninfinity = true\n"), Getenv: func(k string) string {
		return map[string]string{"CONTEXTINFINITY": "0"}[k]
	}})
	if err != nil || s.Config().Context.Infinity || s.Config().Origin("context.infinity") != OriginEnvironment {
		t.Fatalf("%+v, %v", s.Config().Context, err)
	}
}

func TestAFolderInPlaceOfTheFileIsReported(t *testing.T) {
	s, err := Open(Options{Path: t.TempDir(), Getenv: noEnv})
	if chat.CodeOf(err) != chat.CodeConfig || s.Config() == nil {
		t.Fatalf("error %v", err)
	}
	if err := s.Set("stream.fsync_ms", "5"); err == nil {
		t.Fatal("an edit succeeded")
	}
}

// TestFaultyFileKeepsItsDataDir: an error elsewhere in the file must not make the conversations seem to be gone.
func TestFaultyFileKeepsItsDataDir(t *testing.T) {
	for _, fault := range []string{"[stream]\nfsync_ms = -1\n", "[stream\n", "[general]\n"} {
		dir := t.TempDir()
		path := filepath.Join(dir, "config.toml")
		dataDir := filepath.Join(dir, "mine")
		if err := os.WriteFile(path, []byte("[general]\ndata_dir = \""+dataDir+"\"\n"+fault), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(Options{Path: path})
		if err == nil || !s.Defaults() || s.Config().DataDir != dataDir {
			t.Errorf("with %q: data in %s, defaults %v, %v", fault, s.Config().DataDir, s.Defaults(), err)
		}
	}
}

// TestSetAll: several keys are set at once with one notification, or none of them is.
func TestSetAll(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.toml")
	s, err := Open(Options{Path: path, DataDir: t.TempDir(), Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	s.Subscribe(func(*Config) { calls++ })
	if err := s.SetAll([]Value{{"retrieval.embedder", "ollama"}, {"retrieval.embedding_dimension", "many"}}); chat.CodeOf(err) != chat.CodeInvalid {
		t.Errorf("a wrong value: %v", err)
	}
	if s.Config().Retrieval.Embedder != EmbedderLocal || calls != 0 {
		t.Error("part of it was set")
	}
	want := EmbeddingOf(EmbedderOpenAI, "bge-m3", "http://127.0.0.1:1234/v1", "")
	if err := s.SetAll(want.Values()); err != nil || s.Config().Embedding() != want || calls != 1 {
		t.Errorf("%+v, %v, %d notifications", s.Config().Embedding(), err, calls)
	}
}

// TestSetAFieldOfAModel: models.NAME.FIELD can be set and reset for a model in the file. For another model or field the
// error has a hint.
func TestSetAFieldOfAModel(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.toml")
	before := "[models.\"a.b\"]\nprovider = \"openai\"\nmodel_id = \"m\"\n"
	if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open(Options{Path: path, DataDir: t.TempDir(), Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	shown := func(name string) string {
		info, ok := s.Config().Setting(name)
		return fmt.Sprintf("%s = %s (%s) %v", info.Key, info.Value, info.Origin, ok)
	}
	if err := s.Set("models.a.b.price_input", "2.5"); err != nil || s.Config().Configured[0].PriceInput != 2.5 {
		t.Errorf("%v: %+v", err, s.Config().Configured)
	}
	if got := shown("models.a.b.price_input"); got != "models.a.b.price_input = 2.5 (file) true" {
		t.Error(got)
	}
	if err := s.Reset("models.a.b.price_input"); err != nil || s.Config().Configured[0].PriceInput != 0 {
		t.Errorf("%v: %+v", err, s.Config().Configured)
	}
	if got := shown("models.a.b.price_input"); got != "models.a.b.price_input = 0 (default) true" {
		t.Error(got)
	}
	for _, name := range []string{"models.other.price_input", "models.a.b.prize", "no.such"} {
		if _, ok := s.Config().Setting(name); ok {
			t.Errorf("%s is a setting", name)
		}
	}
	for _, name := range []string{"models.other.price_input", "models.a.b.prize"} {
		if err := s.Set(name, "1"); chat.CodeOf(err) != chat.CodeInvalid || !strings.Contains(chat.AsError(err).Hint, "contextinfinity models") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := s.Set("models.a.b.price_input", "dear"); chat.CodeOf(err) != chat.CodeInvalid {
		t.Errorf("%v", err)
	}
}
