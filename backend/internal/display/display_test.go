package display

import "testing"

func TestOneLine(t *testing.T) {
	for in, want := range map[string]string{
		" a\n\t b\u2028c\u0085d ": "a b c d", "x\x00\x1b[31my": "x[31my", "user\u202Egpj.exe\u200F": "usergpj.exe", "\xffa": "\uFFFDa", "": "",
		"می\u200Cخواهم": "می\u200Cخواهم",
	} {
		if got := OneLine(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestCuts(t *testing.T) {
	for _, c := range []struct {
		text        string
		n           int
		start, clip string
	}{
		{"short", 5, "short", "short"}, {"größer", 3, "gr", "gr…"}, {"界界界", 4, "界", "界界界"}, {"\x80\x80\x80\x80\x80\x80", 5, "\x80\x80\x80\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD…"}, {"ab", 1, "a", "…"},
	} {
		if got := Start(c.text, c.n); got != c.start {
			t.Errorf("start of %q: %q", c.text, got)
		}
		if got := Clip(c.text, c.n); got != c.clip {
			t.Errorf("clip of %q: %q", c.text, got)
		}
	}
}

func TestCount(t *testing.T) {
	if Count(1, "branch", "branches") != "1 branch" || Count(0, "branch", "branches") != "0 branches" || Count(2, "turn", "turns") != "2 turns" {
		t.Error("a wrong form")
	}
}

func TestCapitalized(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "the disk is full": "The disk is full", "übrig": "Übrig", "“Check everything” lists them": "“Check everything” lists them",
		"7 turns": "7 turns", "\xffbroken": "\xffbroken",
	} {
		if got := Capitalized(text); got != want {
			t.Errorf("%q becomes %q, not %q", text, got, want)
		}
	}
}
