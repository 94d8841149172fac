package cli

import (
	"strings"
	"testing"
	"time"
)

func manualPage(t *testing.T) string {
	t.Helper()
	var out strings.Builder
	if err := WriteManual(&out, "1.2.3-dev", time.Unix(0, 0)); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestTheManualListsEveryCommand(t *testing.T) {
	page := manualPage(t)
	for _, verb := range Verbs() {
		if !strings.Contains(page, ".SS \""+verb+" ") && !strings.Contains(page, ".SS \""+verb+"\"") {
			t.Errorf("the manual does not list %s", verb)
		}
	}
	for _, want := range []string{`.TH CONTEXTINFINITY 1 "1970-01-01" "contextinfinity 1.2.3\-dev"`, `\fB\-\-data\-dir\fR`, `.SH EXIT STATUS`, `\fB\-k, \-\-`} {
		if !strings.Contains(page, want) {
			t.Errorf("the manual lacks %s", want)
		}
	}
}

// A line that begins with a dot or an apostrophe is a request to the formatter, so text must not begin like that.
func TestTheManualHasNoStrayRequests(t *testing.T) {
	known := map[string]bool{".TH": true, ".SH": true, ".SS": true, ".TP": true, ".IP": true, ".B": true, ".I": true, ".br": true}
	for line := range strings.Lines(manualPage(t)) {
		word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if (strings.HasPrefix(word, ".") || strings.HasPrefix(word, "'")) && !known[word] {
			t.Errorf("a stray request: %q", line)
		}
	}
	for in, want := range map[string]string{
		".cinf files": `\&.cinf files`, "'quoted'": `\&'quoted'`, `C:\x`: `C:\ex`, "a-b": `a\-b`, `say "x"`: `say \(dqx\(dq`,
	} {
		if got := roff(in); got != want {
			t.Errorf("roff(%q) = %q, want %q", in, got, want)
		}
	}
}
