package panics_test

import (
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/panics"
)

func do(f func()) (err *chat.Error, stack string) {
	defer panics.Recover(func(e *chat.Error, s []byte) { err, stack = e, string(s) })
	f()
	return nil, ""
}

// A panic becomes an error with its position, but never with its value.
func TestRecover(t *testing.T) {
	var none map[string]int
	for name, c := range map[string]struct {
		f    func()
		want string
	}{
		"a value":      {func() { panic("my secret prompt") }, "at panics_test.go:"},
		"the runtime":  {func() { none["x"] = 1 }, "assignment to entry in nil map at panics_test.go:"},
		"out of range": {func() { _ = []int{}[len(none)] }, "index out of range [0] with length 0 at panics_test.go:"},
	} {
		err, stack := do(c.f)
		if err == nil || err.Code != chat.CodeInternal || !strings.Contains(err.Message, c.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
		if !strings.Contains(stack, "panics_test") {
			t.Errorf("%s: the stack does not contain the test", name)
		}
	}
	if err, _ := do(func() {}); err != nil {
		t.Errorf("without a panic: %v", err)
	}
}
