package highlight

import (
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata/forms.json")

// form is a text and where a needle is found in it, in UTF-16 units as the page counts.
type form struct {
	Needle string   `json:"needle"`
	Text   string   `json:"text"`
	Found  [][2]int `json:"found"`
}

// Find and highlight ignore what people do not tell apart. The page's own search is tested with the same file.
func TestForms(t *testing.T) {
	const file = "testdata/forms.json"
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var forms []form
	if err := json.Unmarshal(raw, &forms); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for i, f := range forms {
		spans, _ := NewFinder(f.Needle, false).Spans(f.Text, 10)
		got := [][2]int{}
		for _, s := range UTF16(f.Text, spans) {
			got = append(got, [2]int{s.Start, s.End})
		}
		if !reflect.DeepEqual(got, f.Found) && !*update {
			t.Errorf("%q in %q: %v, want %v", f.Needle, f.Text, got, f.Found)
		}
		forms[i].Found = got
		line, _ := json.Marshal(forms[i])
		out.WriteString("\n  " + string(line) + ",")
	}
	if *update {
		text := "[" + strings.TrimSuffix(out.String(), ",") + "\n]\n"
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
