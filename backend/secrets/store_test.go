package secrets

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/seal"
)

const canary = "sk-ant-canary-0123456789abcdef"

// memoryKeyring is a keyring that can fail or hang.
type memoryKeyring struct {
	mu   sync.Mutex
	keys map[string]string
	err  error
	gate chan struct{} // if set, calls wait for it
	gets int
}

func (k *memoryKeyring) enter() error {
	k.mu.Lock()
	gate := k.gate
	k.mu.Unlock()
	if gate != nil {
		<-gate
	}
	k.mu.Lock()
	return k.err
}

func (k *memoryKeyring) Get(_, user string) (string, error) {
	err := k.enter()
	defer k.mu.Unlock()
	k.gets++
	if err != nil {
		return "", err
	}
	text, ok := k.keys[user]
	if !ok {
		return "", ErrNotFound
	}
	return text, nil
}

func (k *memoryKeyring) Set(_, user, text string) error {
	err := k.enter()
	defer k.mu.Unlock()
	if err == nil {
		k.keys[user] = text
	}
	return err
}

func (k *memoryKeyring) Delete(_, user string) error {
	err := k.enter()
	defer k.mu.Unlock()
	if _, ok := k.keys[user]; err == nil && !ok {
		return ErrNotFound
	}
	delete(k.keys, user)
	return err
}

func (k *memoryKeyring) set(change func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	change()
}

type clock struct {
	mu sync.Mutex
	t  time.Time
}

func (c *clock) now() time.Time { c.mu.Lock(); defer c.mu.Unlock(); return c.t }
func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

func newTest(keys map[string]string, env map[string]string) (*Store, *memoryKeyring, *clock) {
	if keys == nil {
		keys = map[string]string{}
	}
	k, c := &memoryKeyring{keys: keys}, &clock{t: time.Unix(1e9, 0)}
	// Long enough for a keyring that answers; the tests of one that hangs set a shorter timeout.
	return NewWith(Options{Keyring: k, Getenv: func(n string) string { return env[n] }, Now: c.now, Timeout: time.Minute}), k, c
}

func expect(t *testing.T, s *Store, provider, env, key string, source Source) {
	t.Helper()
	k, got := s.Get(provider, env)
	if k.Reveal() != key || got != source {
		t.Fatalf("source %q, want %q; key correct: %v", got, source, k.Reveal() == key)
	}
}

func TestOrderOfSources(t *testing.T) {
	s, _, _ := newTest(map[string]string{"openai": "from-keyring"}, map[string]string{"E": " from-env\n", "BLANK": " "})
	expect(t, s, "openai", "E", "from-keyring", SourceKeyring)
	expect(t, s, "anthropic", "E", "from-env", SourceEnvironment)
	expect(t, s, "", "E", "from-env", SourceEnvironment)
	expect(t, s, "anthropic", "BLANK", "", SourceNone)
	expect(t, s, "anthropic", "", "", SourceNone)
	expect(t, s, "", "", "", SourceNone)
}

func TestSetAndRemove(t *testing.T) {
	s, k, _ := newTest(nil, map[string]string{"E": "from-env"})
	if source, err := s.Set("openai", "  "+canary+"\n"); err != nil || source != SourceKeyring || k.keys["openai"] != canary {
		t.Fatalf("%s, %v", source, err)
	}
	expect(t, s, "openai", "E", canary, SourceKeyring)
	for range 2 { // removing a missing key is not an error
		if err := s.Remove("openai"); err != nil {
			t.Fatal(err)
		}
	}
	expect(t, s, "openai", "E", "from-env", SourceEnvironment)
}

func TestSetRefusesInvalidKeys(t *testing.T) {
	s, k, _ := newTest(nil, nil)
	for _, c := range []struct{ provider, text string }{
		{"openai", "  "}, {"", "abc"}, {"openai", "two words"}, {"openai", "line\nbreak"}, {"openai", strings.Repeat("x", 20<<10)}, {"openai", "clé"}, {"openai", "a\x00b"},
	} {
		_, err := s.Set(c.provider, c.text)
		if chat.CodeOf(err) != chat.CodeInvalid {
			t.Errorf("%.20q: %v", c.text, err)
		}
		if text := strings.TrimSpace(c.text); text != "" && err != nil && len(text) > 5 && strings.Contains(err.Error(), text) {
			t.Errorf("the error repeats the key")
		}
	}
	if len(k.keys) != 0 {
		t.Fatal("something was stored")
	}
}

// Without a keyring, a pasted key is used for this run, takes precedence over the environment, and is reported as
// temporary.
func TestWithoutAKeyring(t *testing.T) {
	s, k, _ := newTest(nil, map[string]string{"E": "from-env"})
	k.err = errors.New("org.freedesktop.secrets was not provided")
	if s.KeyringOK() {
		t.Fatal("a failing keyring is reported as working")
	}
	expect(t, s, "openai", "E", "from-env", SourceEnvironment)
	if source, err := s.Set("openai", canary); err != nil || source != SourceRun {
		t.Fatalf("%s, %v", source, err)
	}
	expect(t, s, "openai", "E", canary, SourceRun)
	if err := s.Remove("openai"); err != nil {
		t.Fatal(err)
	}
	expect(t, s, "openai", "E", "from-env", SourceEnvironment)
	if err := s.Remove("openai"); chat.CodeOf(err) != chat.CodeUnavailable {
		t.Fatalf("removing from a keyring that fails: %v", err)
	}
}

// A hanging keyring delays one caller until the timeout; its late response is still used.
func TestAKeyringThatHangs(t *testing.T) {
	s, k, _ := newTest(map[string]string{"openai": canary}, map[string]string{"E": "from-env"})
	s.opts.Timeout = 20 * time.Millisecond
	gate := make(chan struct{})
	k.set(func() { k.gate = gate })
	expect(t, s, "openai", "E", "from-env", SourceEnvironment)
	s.opts.Timeout = time.Hour // from here on, any waiting would hang the test
	expect(t, s, "openai", "E", "from-env", SourceEnvironment)
	expect(t, s, "another", "E", "from-env", SourceEnvironment)
	if s.KeyringOK() {
		t.Fatal("a hanging keyring is reported as working")
	}
	k.set(func() { k.gate = nil })
	close(gate)
	<-s.answerFor("openai").done
	expect(t, s, "openai", "E", canary, SourceKeyring)
}

func TestSetWhileTheKeyringHangs(t *testing.T) {
	s, k, _ := newTest(nil, nil)
	s.opts.Timeout = 20 * time.Millisecond
	gate := make(chan struct{})
	k.set(func() { k.gate = gate })
	if source, err := s.Set("openai", canary); err != nil || source != SourceRun {
		t.Fatalf("%s, %v", source, err)
	}
	expect(t, s, "openai", "", canary, SourceRun)
	if err := s.Remove("openai"); chat.CodeOf(err) != chat.CodeUnavailable {
		t.Fatalf("the running store may still succeed, but the removal returned %v", err)
	}
	close(gate)
}

// A change by another process is noticed once the cached response is stale, and if the keyring fails later, its last
// response is kept.
func TestAnswersGoStale(t *testing.T) {
	s, k, c := newTest(map[string]string{"openai": "first-key"}, nil)
	expect(t, s, "openai", "", "first-key", SourceKeyring)
	k.set(func() { k.keys["openai"] = "second-key" })
	expect(t, s, "openai", "", "first-key", SourceKeyring)
	if k.gets != 1 {
		t.Fatalf("%d requests", k.gets)
	}
	c.advance(2 * time.Minute)
	expect(t, s, "openai", "", "second-key", SourceKeyring)
	k.set(func() { k.err = errors.New("broken") })
	c.advance(2 * time.Minute)
	expect(t, s, "openai", "", "second-key", SourceKeyring)
}

func TestWarmDoesNotBlock(t *testing.T) {
	s, k, _ := newTest(map[string]string{"openai": canary}, nil)
	s.opts.Timeout = time.Hour
	gate := make(chan struct{})
	k.set(func() { k.gate = gate })
	s.Warm("openai", "anthropic", "")
	k.set(func() { k.gate = nil })
	close(gate)
	expect(t, s, "openai", "", canary, SourceKeyring)
}

// No way of printing, encoding or logging a Key shows it.
func TestKeyDoesNotPrint(t *testing.T) {
	k := newKey(canary)
	nested := struct{ hidden Key }{k}
	encoded, _ := json.Marshal(map[string]any{"k": k, "p": &k})
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "k", k, "n", nested)
	out := string(encoded) + log.String()
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		out += fmt.Sprintf(verb, k) + fmt.Sprintf(verb, nested) + fmt.Sprintf(verb, &k)
	}
	if strings.Contains(out, "canary") || strings.Contains(out, fmt.Sprintf("%x", canary[:8])) {
		t.Fatal(out)
	}
	if k.Reveal() != canary || k.IsZero() || !(Key{}).IsZero() || (Key{}).Reveal() != "" {
		t.Fatal("the key itself is wrong")
	}
}

// Every key that was looked up or set is known to the redactor.
func TestLookupsFeedTheRedactor(t *testing.T) {
	s, _, _ := newTest(map[string]string{"a": "plain-looking-one"}, map[string]string{"E": "plain-looking-two"})
	s.Get("a", "")
	s.Get("b", "E")
	if _, err := s.Set("c", "plain-looking-three"); err != nil {
		t.Fatal(err)
	}
	got := s.Redactor().Redact("1 plain-looking-one 2 plain-looking-two 3 plain-looking-three 4 plain-looking-four")
	if got != "1 [redacted] 2 [redacted] 3 [redacted] 4 plain-looking-four" {
		t.Fatal(got)
	}
}

// A key of sealed data is found only while the keyring answers in time and has exactly that key, and it is redacted.
func TestKeysOfSealedData(t *testing.T) {
	s, k, _ := newTest(nil, nil)
	key := seal.NewKey()
	if err := s.KeepDataKey(key); err != nil {
		t.Fatal(err)
	}
	name, found := "data-key-"+key.ID(), func() bool {
		got, ok := s.DataKey(key.ID())
		return ok && got == key
	}
	if text := k.keys[name]; !found() || strings.Contains(s.Redactor().Redact("it is "+text), text) {
		t.Errorf("found: %t, %q is not redacted", found(), text)
	}
	stored := k.keys[name]
	for _, other := range []string{"", "?", stored + stored, base64.StdEncoding.EncodeToString(make([]byte, 32))} {
		if k.keys[name] = other; found() {
			t.Errorf("found in %q", other)
		}
	}
	k.keys[name] = stored
	k.err = errors.New("locked")
	if err := s.KeepDataKey(key); found() || chat.CodeOf(err) != chat.CodeUnavailable {
		t.Errorf("found in a keyring that refuses; keeping it: %v", err)
	}
	k.err = nil
	gate := make(chan struct{})
	k.set(func() { k.gate = gate })
	s.opts.Timeout = 20 * time.Millisecond
	if err := s.KeepDataKey(key); found() || chat.CodeOf(err) != chat.CodeUnavailable {
		t.Errorf("found in a keyring that hangs; keeping it: %v", err)
	}
	k.set(func() { k.gate = nil })
	close(gate)
	s.opts.Timeout = time.Minute
	if !found() {
		t.Error("not found in a keyring that answers again")
	}
	if err := s.ForgetDataKey(key.ID()); err != nil || found() {
		t.Errorf("forgotten: %v", err)
	}

	late := seal.NewKey() // somebody unlocks the keyring after it was reported that nothing was changed
	gate = make(chan struct{})
	k.set(func() { k.gate = gate })
	s.opts.Timeout = 20 * time.Millisecond
	if err := s.KeepDataKey(late); chat.CodeOf(err) != chat.CodeUnavailable {
		t.Errorf("kept by a keyring that hangs: %v", err)
	}
	k.set(func() { k.gate = nil })
	close(gate)
	s.opts.Timeout = time.Minute
	if _, ok := s.DataKey(late.ID()); ok {
		t.Error("the key was stored after all")
	}
}
