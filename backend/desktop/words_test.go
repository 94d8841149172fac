package desktop

import (
	"reflect"
	"strings"
	"testing"
)

func TestTheTrayUsesTheLanguageOfTheWindow(t *testing.T) {
	for _, c := range []struct {
		setting   string
		preferred []string
		want      *trayWords
	}{
		{"system", []string{"de-AT", "en-US"}, &trayGerman},
		{"system", []string{"zh-CN", "en-US"}, &trayChinese},
		{"system", []string{"zh-TW", "de", "en-US"}, &trayGerman},
		{"system", []string{"fr", "en-US"}, &trayEnglish},
		{"system", nil, &trayEnglish},
		{"zh-CN", []string{"de"}, &trayChinese},
		{"en", []string{"de"}, &trayEnglish},
	} {
		if got := wordsIn(languageOf(c.setting, c.preferred)); got != c.want {
			t.Errorf("%s, %v: %q", c.setting, c.preferred, got.quit)
		}
	}
}

func TestEveryLanguageHasEveryTextOfTheTray(t *testing.T) {
	want := reflect.ValueOf(trayEnglish)
	for _, words := range []trayWords{trayGerman, trayChinese} {
		got := reflect.ValueOf(words)
		for i := range want.NumField() {
			text, name := got.Field(i).String(), want.Type().Field(i).Name
			if text == "" || text == want.Field(i).String() || strings.Count(text, "%d") != strings.Count(want.Field(i).String(), "%d") {
				t.Errorf("%s in %q: %q", name, words.quit, text)
			}
		}
	}
}
