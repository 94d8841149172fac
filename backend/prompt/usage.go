package prompt

import (
	"fmt"
	"strings"
)

// Usage is how full a context is (FORGE's ContextUsage).
type Usage struct {
	Used      int // tokens
	Recalled  int // part of Used taken by retrieved memory, which is reduced automatically
	Ceiling   int
	Summaries int // number of range summaries
	Extracts  int // number of extracts, for turns without a summary
}

// UsageOf reads a manifest.
func UsageOf(m Manifest) Usage {
	u := Usage{Used: m.TotalTokens, Ceiling: m.Budget.Ceiling}
	for _, s := range m.Sections {
		switch s.Name {
		case SectionSummaries:
			for _, item := range s.Items {
				switch item.Source {
				case "summary":
					u.Summaries++
				case "extract":
					u.Extracts++
				}
			}
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

// Format is the meter's text: "2.1k / 200k (1%)", "12.4k / 50k (25%) [2S]",
// "[2S 1E]" with an extract.
func (u Usage) Format() string {
	s := fmt.Sprintf("%s / %s (%.0f%%)", compact(u.Used), compact(u.Ceiling), u.Percent())
	var marks []string
	if u.Summaries > 0 {
		marks = append(marks, fmt.Sprintf("%dS", u.Summaries))
	}
	if u.Extracts > 0 {
		marks = append(marks, fmt.Sprintf("%dE", u.Extracts))
	}
	if len(marks) > 0 {
		s += " [" + strings.Join(marks, " ") + "]"
	}
	return s
}

// State is the meter's label: "plenty" under 70 %, "filling" up to 90 %, then "nearly full". Retrieved memory does not
// count: it fills the space that other sections leave, so a long conversation would always be nearly full.
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
