package secrets

import (
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"

	"contextinfinity/backend/internal/childenv"
)

// original is the complete environment, set when HideEnvironment has removed most of it.
var original struct {
	mu  sync.RWMutex
	env []string
}

// HideEnvironment removes the variables that no desktop program needs from the process's environment, because the
// processes of WebKit and the browser inherit it. Getenv and Environ still return them.
func HideEnvironment() {
	original.mu.Lock()
	defer original.mu.Unlock()
	if original.env != nil {
		return
	}
	original.env = os.Environ()
	for _, entry := range original.env {
		if name, _, ok := strings.Cut(entry, "="); ok && name != "" && !childenv.IsDesktop(name) {
			_ = os.Unsetenv(name)
		}
	}
}

// Getenv returns a variable of the environment that the program was started with.
func Getenv(name string) string {
	original.mu.RLock()
	defer original.mu.RUnlock()
	for _, entry := range original.env {
		if n, value, ok := strings.Cut(entry, "="); ok && sameName(n, name) {
			return value
		}
	}
	return os.Getenv(name)
}

// sameName compares names of variables as the system does.
func sameName(a, b string) bool {
	if runtime.GOOS == "windows" {
		return strings.EqualFold(a, b)
	}
	return a == b
}

// Environ returns the environment that the program was started with. It is also used to start the program again.
func Environ() []string {
	original.mu.RLock()
	defer original.mu.RUnlock()
	if original.env != nil {
		return slices.Clone(original.env)
	}
	return os.Environ()
}
