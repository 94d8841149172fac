package prompt

import (
	"fmt"
	"strings"
)

// Usage is how full a context is (FORGE's ContextUsage).
type Usage struct {
	Used      int // tokens
	Recalled  int // those of Used that recalled memory takes; it gives way by itself
	Ceiling   int
	Summaries int // range summaries in it
}

// UsageOf reads a manifest.
func UsageOf(m Manifest) Usage {
	u := Usage{Used: m.TotalTokens, Ceiling: m.Budget.Ceiling}
	for _, s := range m.Sections {
		switch s.Name {
		case SectionSummaries:
			u.Summaries = max(0, len(s.Items)-2) // the frame is two items
		case SectionRetrieved:
			u.Recalled = s.Tokens
		}
	}
	return u
}

// Percent is the share of the ceiling in use.
func (u Usage) Percent() float64 { return u.percent(u.Used) }

func (u Usage) percent(tokens int) float64 {
	if u.Ceiling <= 0 {
		return 0
	}
	return 100 * float64(tokens) / float64(u.Ceiling)
}

// Format is the meter's text: "2.1k / 200k (1%)", "12.4k / 50k (25%) [2S]".
func (u Usage) Format() string {
	s := fmt.Sprintf("%s / %s (%.0f%%)", compact(u.Used), compact(u.Ceiling), u.Percent())
	if u.Summaries > 0 {
		s += fmt.Sprintf(" [%dS]", u.Summaries)
	}
	return s
}

// State is the meter's word: under 70 % plenty, up to 90 filling, above nearly full. Recalled
// memory does not count: it fills what other sections leave, so with it a long conversation
// would always be nearly full.
func (u Usage) State() string {
	switch p := u.percent(u.Used - u.Recalled); {
	case p < 70:
		return "plenty"
	case p <= 90:
		return "filling"
	}
	return "nearly full"
}

func compact(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 1_000_000:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/1000), ".0") + "k"
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/1e6), ".0") + "M"
}
