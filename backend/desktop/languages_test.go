package desktop

import (
	"slices"
	"testing"
)

func TestWebLanguages(t *testing.T) {
	for name, c := range map[string]struct {
		env      map[string]string
		spelling []string
		tags     []string
	}{
		"none":               {nil, []string{"en_US"}, []string{"en-US"}},
		"C with a codeset":   {map[string]string{"LANG": "C.UTF-8", "LANGUAGE": "fr"}, []string{"en_US"}, []string{"en-US"}},
		"POSIX over LANG":    {map[string]string{"LC_ALL": "POSIX", "LANG": "de_DE.UTF-8"}, []string{"en_US"}, []string{"en-US"}},
		"German":             {map[string]string{"LANG": "de_DE.UTF-8"}, []string{"de_DE", "en_US"}, []string{"de-DE", "en-US"}},
		"messages over LANG": {map[string]string{"LC_MESSAGES": "fr_FR@euro", "LANG": "de_DE"}, []string{"fr_FR", "en_US"}, []string{"fr-FR", "en-US"}},
		"a list":             {map[string]string{"LANGUAGE": "sv:en_US", "LANG": "sv_SE"}, []string{"sv", "en_US", "sv_SE"}, []string{"sv", "en-US", "sv-SE"}},
		"invalid":            {map[string]string{"LANG": "../x"}, []string{"en_US"}, []string{"en-US"}},
	} {
		spelling, tags := webLanguages(func(name string) string { return c.env[name] })
		if !slices.Equal(spelling, c.spelling) || !slices.Equal(tags, c.tags) {
			t.Errorf("%s: %v, %v", name, spelling, tags)
		}
	}
}
