package chat

import (
	"strings"
	"testing"
)

func TestARecordNamesASession(t *testing.T) {
	long := "Why " + strings.Repeat("does it ", 30) + "rain?"
	p := DeletionPreview{Session: "01KEX", Names: []string{"Keys / of <the> harbour?", "C/D", "", "?!", long, "\u5317\u4eac"}}
	for record, want := range map[string]bool{
		`{"title":"Import all.json"}`:                                       false,
		`{"report":{"firstSession":"01KEX"}}`:                               true,
		`{"skipped":[{"title":"Keys / of \u003cthe\u003e harbour?"}]}`:      true,
		`{"title":"Export Keys - of -the- harbour-.md"}`:                    true,
		`{"path":"/home/x/keys - OF -the- harbour- (2).cinf"}`:              true,
		`{"title":"Export Keys of another harbour.md"}`:                     false,
		`{"title":"Export C-D.md"}`:                                         true,
		`{"title":"Export CD.md"}`:                                          false,
		`{"title":"Export A-C-Dock.md"}`:                                    false,
		`{"title":"Export ` + long[:90] + `.md"}`:                           true,
		`{"title":"Export Why does it.md"}`:                                 false,
		"{\"title\":\"Export \u53bb\u5317\u4eac.md\"}":                      true,
		"not JSON: Keys / of <the> harbour?":                                true,
		`{"title":"?! is in every name that has neither letter nor digit"}`: true,
	} {
		if got := p.NamedIn(record); got != want {
			t.Errorf("%s: %v, want %v", record, got, want)
		}
	}
}
