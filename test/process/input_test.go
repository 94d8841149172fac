package process

import (
	"fmt"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm/llmtest"
	"contextinfinity/test/harness"
	"contextinfinity/test/testtier"
)

// Every input has a clear outcome: it is stored byte for byte, and then answered or refused with a reason; invalid input
// is refused and not stored.
func TestBadInputHasAClearOutcome(t *testing.T) {
	t.Parallel()
	prose := strings.Repeat("The quick brown fox jumps over the lazy dog, and then it rains. ", 1<<14)
	lines := strings.Repeat("a line\n", 10_000)
	cases := []struct {
		name, text string
		model      string
		code       chat.Code // "": it is answered
		stored     bool
	}{
		{"a 1 MB paste into a small window", prose[:1<<20], "small", chat.CodeOverBudget, true},
		{"a paste of 512 KB or more into a large window", prose[:testtier.Size(1<<19, 1<<20)], "large", "", true},
		{"64 KB of one letter", strings.Repeat("a", 64<<10), "small", "", true},
		{"60 KB of Chinese without a stop", strings.Repeat("無限的對話歷史不會丟失任何東西", 60<<10/45), "small", "", true},
		{"10 000 lines", lines, "small", "", true},
		{"NUL bytes", "before\x00after\x00", "small", "", true},
		{"control characters", "\x1b[2J\a\b\x7f\u202e right to left", "small", "", true},
		{"the replacement character", "a \uFFFD that is valid", "small", "", true},
		{"an astral private plane", "\U0010FFFD\U000F0000", "small", "", true},
		{"endless combining marks", "e" + strings.Repeat("\u0301", 20_000), "small", "", true},
		{"nothing", "", "small", chat.CodeInvalid, false},
		{"blanks", " \t\n\u00a0 ", "small", chat.CodeInvalid, false},
		{"a byte that is not UTF-8", "caf\xe9", "small", chat.CodeInvalid, false},
		{"an encoded lone surrogate", "\xed\xa0\xbd", "small", chat.CodeInvalid, false},
		{"a cut-off character", "漢"[:2], "small", chat.CodeInvalid, false},
	}
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := harness.Wires[i%len(harness.Wires)]
			server := harness.NewHeldServer(t, false, w.TextStream(true, "Understood.")...)
			large := strings.Replace(w.Model("large", server.URL), "128000", "2000000", 1)
			h := harness.NewHome(t, harness.Shipped(t), "[budget]\nworking_set_tokens = 1000000\n\n"+w.Model("small", server.URL)+large)
			r := h.RunIn(c.text, "send", "--new", "--json", "--wait", "indexed", "--model", c.model, "-")
			if c.code == "" {
				if s := r.Exits(0).Sent(); s.Text != "Understood." || s.Phase != chat.PhaseDone {
					t.Errorf("answered %+v", s)
				}
			} else {
				exit := 1
				if strings.TrimSpace(c.text) == "" {
					exit = 2 // there is no message, which is a usage error
				}
				r.Fails(exit, c.code)
			}
			checkStored(h, c.text, c.stored)
			h.Clean()
		})
	}
}

// checkStored checks that the message is stored exactly as it was sent, or that nothing is stored.
func checkStored(h *harness.Home, text string, stored bool) {
	h.T.Helper()
	var doc struct {
		Sessions []struct {
			ID    string `json:"session_id"`
			Title string
		}
	}
	h.OK("sessions", "--json").Document(&doc)
	if !stored {
		if len(doc.Sessions) != 0 {
			h.T.Errorf("a refused message left %d sessions", len(doc.Sessions))
		}
		return
	}
	if len(doc.Sessions) != 1 || len(doc.Sessions[0].Title) > 400 || strings.ContainsAny(doc.Sessions[0].Title, "\n\x00\x1b") {
		h.T.Fatalf("sessions: %+v", doc.Sessions)
	}
	if got := h.Only(doc.Sessions[0].ID).User.RenderedText(); got != text {
		h.T.Errorf("%d bytes are stored, %d were sent: %q", len(got), len(text), harness.Clip(got))
	}
}

// A provider may send invalid text.
func TestBadBytesFromTheProviderHaveAClearOutcome(t *testing.T) {
	t.Parallel()
	for _, w := range harness.Wires {
		pair := w.TextStream(true, "PIECE", "PIECE")
		escape := func(first, second string) []chat.RawEvent {
			out, n := make([]chat.RawEvent, len(pair)), 0
			for i, ev := range pair {
				data := string(ev.Data)
				if strings.Contains(data, "PIECE") {
					data, n = strings.Replace(data, "PIECE", []string{first, second}[n], 1), n+1
				}
				out[i] = chat.RawEvent{Type: ev.Type, Data: []byte(data)}
			}
			return out
		}
		cases := []struct{ name, first, second, want string }{
			{"a pair cut in two", `\ud83c`, `\udf0d`, "🌍"},
			{"a lone high surrogate", `a\ud83c`, `b`, "a\uFFFDb"},
			{"a lone low surrogate", `\udf0d`, `c`, "\uFFFDc"},
			{"half a pair at the end", `a`, `b\ud83c`, "ab"}, // the half is not shown; the raw event is stored
			{"bytes that are not UTF-8", "a\xff", "b", "a\uFFFDb"},
			{"an escaped NUL", `a\u0000`, "b", "a\x00b"},
		}
		t.Run(w.Name, func(t *testing.T) {
			t.Parallel()
			config := ""
			for i, c := range cases {
				config += w.Model(fmt.Sprint("odd", i), harness.NewHeldServer(t, false, escape(c.first, c.second)...).URL)
			}
			h := harness.NewHome(t, harness.Shipped(t), config)
			for i, c := range cases {
				s := h.OK("send", "--new", "--json", "--wait", "indexed", "--model", fmt.Sprint("odd", i), "Speak.").Sent()
				if s.Text != c.want || h.Only(s.SessionID).Text() != c.want {
					t.Errorf("%s: the answer is %q, want %q", c.name, s.Text, c.want)
				}
			}
			h.Clean()
		})
	}
}

// A large request and answer, each in one event, arrive completely.
func TestALargeAnswerArrivesCompletely(t *testing.T) {
	t.Parallel()
	want := strings.Repeat("größer als 漢字 🌍 ", testtier.Size(15_000, 60_000))
	for _, w := range harness.Wires {
		t.Run(w.Name, func(t *testing.T) {
			t.Parallel()
			server := llmtest.NewServer(t, llmtest.Stream(w.TextStream(true, want)...))
			h := harness.NewHome(t, harness.Shipped(t), w.Model("large", server.URL))
			r := h.OK("send", "--new", "--model", "large", "Everything.")
			if r.Stdout != want+"\n" {
				t.Errorf("%d bytes arrived of %d", len(r.Stdout), len(want))
			}
			h.Clean()
		})
	}
}

func TestSessionTitles(t *testing.T) {
	t.Parallel()
	h := harness.NewHome(t, harness.Shipped(t), "")
	s := h.OK("send", "--new", "--json", "A session to be named.").Sent()
	for _, title := range []string{strings.Repeat("long ", 20_000), strings.Repeat("無", 30_000), "one\nline\tor two", "\u202eturned"} {
		r := h.Run("sessions", "rename", s.SessionID, title, "--json")
		if r.Code == 0 {
			var doc struct{ Session chat.Session }
			r.Document(&doc)
			if doc.Session.Title == "" {
				t.Errorf("a title of %d bytes was lost", len(title))
			}
		} else {
			r.Fails(1, chat.CodeInvalid)
		}
		if out := h.OK("sessions").Stdout; strings.Count(out, "\n") != 2 || len(out) > 1000 {
			t.Errorf("a title of %d bytes breaks the list: %s", len(title), harness.Clip(out))
		}
		h.Clean()
	}
	h.Run("sessions", "rename", s.SessionID, "caf\xe9", "--json").Fails(1, chat.CodeInvalid)
	h.Run("sessions", "rename", s.SessionID, "", "--json").Fails(2, chat.CodeInvalid) // an empty title is a usage error
}
