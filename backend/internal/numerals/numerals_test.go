package numerals

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		"1,000 1.000 1'000 1’000": "1000 1000 1000 1000", "1 000 rows": "1000 rows", "1\u00a0000, 1\u202f000 and 1\u2009000": "1000, 1000 and 1000",
		"2,410,000.50 of $12,345": "2410000.50 of $12345", "(1,000)": "(1000)", "1,000th": "1000th",
		"0.500 1.5 1,50 12,34,56": "0.500 1.5 1,50 12,34,56", "1, 000": "1, 000", "2024 100": "2024 100", "1,0000 1,00": "1,0000 1,00",
		"1,000.000": "1000.000", "15.03.2024": "15.03.2024", "10.0.0.1": "10.0.0.1", "no number": "no number", "": "",
		"1,000,000,000,000,000,000": "1,000,000,000,000,000,000", // not an amount
		"Лимит: 1 000, 第1,000行":     "Лимит: 1000, 第1000行",
	} {
		if got := Plain(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

func TestForms(t *testing.T) {
	for in, want := range map[string]string{
		"1000": "1000/1 000", "1,000": "1000/1 000", "2410000": "2410000/2 410 000", "2024": "2024/2 024", "123456": "123456/123 456",
	} {
		whole, groups, ok := Forms(in)
		if got := whole + "/" + groups; !ok || got != want {
			t.Errorf("%q has the forms %q, want %q", in, got, want)
		}
	}
	for _, in := range []string{"", "100", "0100", "1000x", "sold 1,000", "v1000", "1234567890123456"} {
		if whole, _, ok := Forms(in); ok {
			t.Errorf("%q has the form %q", in, whole)
		}
	}
}

func TestIn(t *testing.T) {
	for in, want := range map[string][]string{
		"1 000 = 1,000 = 1.000 = 1000 = $1000.00": {"1000"}, "9 AM, 09:00, 9:00": {"9:00"}, "9 pm and 21:00": {"21:00"},
		"3:30 PM or 15:30": {"15:30"}, "1.5 and 1,50": {"1.5"}, "0.500": {"0.5"}, "007, 0": {"0", "7"}, "16GB": {"16"}, "none": nil,
	} {
		got := slices.Sorted(maps.Keys(In(in)))
		if !slices.Equal(got, want) {
			t.Errorf("%q has the numbers %q, want %q", in, got, want)
		}
	}
}

// Whatever a text contains, Plain removes only separators, and a second pass changes nothing.
func FuzzPlain(f *testing.F) {
	f.Add("1,000 2.000 3 000 \xff’000 999’999")
	f.Fuzz(func(t *testing.T, s string) {
		plain := Plain(s)
		drop := strings.NewReplacer(",", "", ".", "", "'", "", "’", "", " ", "", "\u00a0", "", "\u2009", "", "\u202f", "")
		if drop.Replace(plain) != drop.Replace(s) {
			t.Errorf("%q became %q", s, plain)
		}
	})
}
