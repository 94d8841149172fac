package pattern

import "testing"

// TestItIsCompiledAtItsFirstUse: before that, an expression costs nothing.
func TestItIsCompiledAtItsFirstUse(t *testing.T) {
	broken := New("(")
	defer func() {
		if recover() == nil {
			t.Error("a broken expression was used")
		}
	}()
	if !New("^a+$")().MatchString("aa") {
		t.Error("it does not match")
	}
	broken().MatchString("a")
}
