package turn

import "testing"

// A repeated name could hide from the user what a tool will read, so such arguments are detected.
func TestRepeatsName(t *testing.T) {
	for raw, want := range map[string]struct{ exact, anyCase bool }{
		`{}`: {},
		`{"a":1,"b":{"a":"a","c":["a","a",{"a":1},{"a":2}]},"c":[]}`: {},
		`{"a":1,"a":2}`:                     {true, true},
		`{"a":{"b":[[{"c":1,"c":{}}]]}}`:    {true, true},
		`{"a":{"x":1},"b":2,"a":3}`:         {true, true},
		`{"a":1,"\u0061":2}`:                {true, true},
		`{"path":"ok","Path":"evil"}`:       {false, true},
		`{"mask":1,"ma\u017f\u212a":2}`:     {false, true},
		`{"a":{"path":1},"b":{"PATH":"p"}}`: {},
	} {
		if exact, anyCase := repeatsName([]byte(raw), false), repeatsName([]byte(raw), true); exact != want.exact || anyCase != want.anyCase {
			t.Errorf("%s: %v %v", raw, exact, anyCase)
		}
	}
}
