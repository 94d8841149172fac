package desktop

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestTheWindowBeginsInTheColorOfItsTheme: no white frame is shown before the page is drawn.
func TestTheWindowBeginsInTheColorOfItsTheme(t *testing.T) {
	tokens, err := os.ReadFile("../../frontend/src/styles/tokens.css")
	if err != nil {
		t.Fatal(err)
	}
	for _, theme := range []string{"light", "dark", "contrast"} {
		_, block, _ := strings.Cut(string(tokens), `[data-theme="`+theme+`"] {`)
		_, rest, _ := strings.Cut(block, "--color-bg: ")
		want, _, _ := strings.Cut(rest, ";")
		got := Window{Theme: theme}.Background()
		if hex := fmt.Sprintf("#%02x%02x%02x", got.R, got.G, got.B); hex != want || got.A != 255 {
			t.Errorf("%s is %s, alpha %d; the page is %s", theme, hex, got.A, want)
		}
	}
	if got := (Window{Theme: "system"}).Background(); got.A != 0 {
		t.Errorf("with the system's theme %+v covers the window's own color", got)
	}
}

func TestAdditionalWindowsDoNotCoverEachOther(t *testing.T) {
	if a, b := cascadeOffset(4711), cascadeOffset(4712); a == b || a < 28 || b < 28 || a > 168 || b > 168 {
		t.Errorf("offsets %d and %d", a, b)
	}
}
