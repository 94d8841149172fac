package tokens

import "strings"

// Sources of a limit, as shown in the window.
const (
	SourceConfigured = "configured"
	SourceUnknown    = "unknown window"
)

// SourceTable returns the source of limits from the table, with the matching prefix.
func SourceTable(prefix string) string { return "table: " + prefix }

// Resolved has the limits of a model, in tokens, and the source of its context limit.
type Resolved struct {
	ContextLimit int
	MaxOutput    int
	Source       string
}

// Fallback has the limits assumed for unknown models: budget.fallback_context_limit and budget.fallback_max_output.
type Fallback struct {
	ContextLimit int
	MaxOutput    int
}

// limits are the limits of a family of models.
type limits struct {
	prefix               string
	contextLimit, output int
}

// familyLimits is searched by longest prefix. It started as FCRATE's table and has the vendors' published limits as of
// November 2026. Later models of a family get its limits, which may be too low but not too high. Models for local
// servers are not listed: their window is whatever the server was started with, often far below what the model
// supports.
var familyLimits = []limits{
	{"claude", 200_000, 64_000},
	{"claude-2", 100_000, 4_096},
	{"claude-instant", 100_000, 4_096},
	{"claude-3", 200_000, 4_096},
	{"claude-3-5", 200_000, 8_192},
	{"claude-3-7", 200_000, 64_000},
	{"claude-opus-4", 200_000, 32_000},
	{"claude-opus-4-5", 200_000, 64_000},
	{"claude-opus-4-6", 1_000_000, 128_000},
	{"claude-opus-4-7", 1_000_000, 128_000},
	{"claude-opus-4-8", 1_000_000, 128_000},
	{"claude-opus-5", 1_000_000, 128_000},
	{"claude-sonnet-4", 200_000, 64_000},
	{"claude-sonnet-4-6", 1_000_000, 128_000},
	{"claude-sonnet-5", 1_000_000, 128_000},
	{"claude-haiku-4-5", 200_000, 64_000},
	{"claude-fable-5", 1_000_000, 128_000},

	{"gpt-3.5", 16_385, 4_096},
	{"gpt-4", 8_192, 4_096},
	{"gpt-4-32k", 32_768, 4_096},
	{"gpt-4-1106", 128_000, 4_096},
	{"gpt-4-0125", 128_000, 4_096},
	{"gpt-4-turbo", 128_000, 4_096},
	{"gpt-4-vision", 128_000, 4_096},
	{"gpt-4o", 128_000, 16_384},
	{"gpt-4o-2024-05-13", 128_000, 4_096},
	{"chatgpt-4o", 128_000, 16_384},
	{"gpt-4.1", 1_047_576, 32_768},
	{"gpt-4.5", 128_000, 16_384},
	{"gpt-5", 400_000, 128_000},
	{"gpt-5-chat", 128_000, 16_384},
	{"gpt-5.1-chat", 128_000, 16_384},
	{"gpt-5.2-chat", 128_000, 16_384},
	{"gpt-5.3-chat", 128_000, 16_384},
	{"gpt-5.4", 1_050_000, 128_000},
	{"gpt-5.4-mini", 400_000, 128_000},
	{"gpt-5.4-nano", 400_000, 128_000},
	{"gpt-5.5", 1_050_000, 128_000},
	{"gpt-5.6", 1_050_000, 128_000},
	{"gpt-6", 1_050_000, 128_000},
	{"o1", 200_000, 100_000},
	{"o1-mini", 128_000, 65_536},
	{"o1-preview", 128_000, 32_768},
	{"o3", 200_000, 100_000},
	{"o4-mini", 200_000, 100_000},
	{"codex-mini", 200_000, 100_000},
}

// Limits resolves a model's limits: the configured ones (0: not configured), then the table by longest prefix, then
// the fallback (SPEC 9). MaxOutput is always less than ContextLimit.
func Limits(modelID string, contextLimit, maxOutput int, fallback Fallback) Resolved {
	r := Resolved{ContextLimit: fallback.ContextLimit, MaxOutput: fallback.MaxOutput, Source: SourceUnknown}
	if l, ok := lookup(modelID); ok {
		r = Resolved{ContextLimit: l.contextLimit, MaxOutput: l.output, Source: SourceTable(l.prefix)}
	}
	if contextLimit > 0 {
		r.ContextLimit, r.Source = contextLimit, SourceConfigured
	}
	if maxOutput > 0 {
		r.MaxOutput = maxOutput
	}
	if r.MaxOutput >= r.ContextLimit {
		r.MaxOutput = max(1, r.ContextLimit/2)
	}
	return r
}

func lookup(modelID string) (limits, bool) {
	id := familyName(modelID)
	var best limits
	for _, l := range familyLimits {
		if strings.HasPrefix(id, l.prefix) && endsWord(id, l.prefix) && len(l.prefix) > len(best.prefix) {
			best = l
		}
	}
	return best, best.prefix != ""
}

// familyName undoes the changes that gateways make to an id: "anthropic/claude-3.5-sonnet" and
// "eu.anthropic.claude-3-5-sonnet" become claude-3-5-sonnet.
func familyName(modelID string) string {
	id := baseName(modelID)
	if i := strings.Index(id, ".claude-"); i >= 0 {
		id = id[i+1:]
	}
	if strings.HasPrefix(id, "claude-") {
		id = strings.ReplaceAll(id, ".", "-")
	}
	return id
}

// endsWord prevents "o1" from matching "o10", and "gpt-4" from matching "gpt-40".
func endsWord(id, prefix string) bool {
	return len(id) == len(prefix) || strings.IndexByte("-.@:", id[len(prefix)]) >= 0
}
