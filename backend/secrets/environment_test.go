package secrets

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestHideEnvironment: processes that are started later inherit no key, but the program itself still finds it.
func TestHideEnvironment(t *testing.T) {
	t.Setenv("MY_PROVIDER", "sk-hidden-key")
	t.Setenv("DISPLAY", ":99")
	before := os.Environ()
	t.Cleanup(func() {
		for _, entry := range before {
			if name, value, _ := strings.Cut(entry, "="); name != "" {
				_ = os.Setenv(name, value)
			}
		}
		original.env = nil
	})
	HideEnvironment()
	HideEnvironment()
	if os.Getenv("MY_PROVIDER") != "" || os.Getenv("DISPLAY") != ":99" {
		t.Error("the key is still in the environment, or DISPLAY is not")
	}
	if Getenv("MY_PROVIDER") != "sk-hidden-key" || !slices.Contains(Environ(), "MY_PROVIDER=sk-hidden-key") {
		t.Error("the program lost the key")
	}
	if key, _ := New().Get("", "MY_PROVIDER"); key.IsZero() {
		t.Error("the key is not found in the environment")
	}
	if env, err := exec.LookPath("env"); err == nil {
		if out, err := exec.Command(env).Output(); err != nil || strings.Contains(string(out), "sk-hidden-key") {
			t.Errorf("a child has %s, %v", out, err)
		}
	}
}
