package pattern

import "testing"

func TestAPatternIsCompiledOnFirstUse(t *testing.T) {
	broken := New("(")
	defer func() {
		if recover() == nil {
			t.Error("an invalid expression did not panic")
		}
	}()
	if !New("^a+$")().MatchString("aa") {
		t.Error("the pattern does not match")
	}
	broken().MatchString("a")
}
