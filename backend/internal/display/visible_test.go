package display

import "testing"

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"größer 界 \t\n":             "größer 界 \t\n",
		"a\u200bb\u00adc\u200d":     `a\u{200b}b\u{ad}c\u{200d}`, // zero width, soft hyphen, joiner
		"user\u202egpj.exe\u2066x":  `user\u{202e}gpj.exe\u{2066}x`,
		"x\x1b[31m\x07\u009b2J\x7f": `x\u{1b}[31m\u{7}\u{9b}2J\u{7f}`,
		"ok\U000e0068\U000e0069":    `ok\u{e0068}\u{e0069}`, // tags
		"a\ufe0f\ufe01":             `a\u{fe0f}\u{fe01}`,
		"\u3164\u115f\u2800\ue000":  `\u{3164}\u{115f}\u{2800}\u{e000}`,
		"👨\u200d💻 ❤\ufe0f\u200d🔥":   "👨\u200d💻 ❤\ufe0f\u200d🔥",
		"one\r\ntwo\rthree\u2028":   "one\ntwo\\u{d}three\\u{2028}",
		"\xffa":                     "\uFFFDa",
	} {
		if got := Visible(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
