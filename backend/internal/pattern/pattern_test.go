package pattern

import "testing"

// TestItIsCompiledAtItsFirstUse: an expression costs nothing before.
func TestItIsCompiledAtItsFirstUse(t *testing.T) {
	broken := New("(")
	defer func() {
		if recover() == nil {
			t.Error("a broken expression was used")
		}
	}()
	if !New("^a+$").MatchString("aa") {
		t.Error("it does not match")
	}
	broken.MatchString("a")
}
