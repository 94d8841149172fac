package wire

import (
	"regexp"
	"strconv"
	"strings"
)

// number is a count of tokens as vendors write it.
const number = `(\d[\d,_.]*\d|\d)`

// refusals are the words of vendors and servers for a request over their window, with
// the names of the numbers in them: limit, input counted, output asked for.
var refusals = compileRefusals([][]string{
	{"limit", "input", `maximum context length (?:is|of) ` + number + `(?: tokens?)?.*?\b(?:resulted in|contains?|has|requested(?: about)?) ` + number + ` (?:input )?tokens`},
	{"input", "limit", number + ` tokens? > ` + number},                                                         // Anthropic
	{"input", "output", "limit", `exceed context limit: ` + number + ` \+ ` + number + ` > ` + number},          // Anthropic
	{"input", "limit", `\(` + number + ` tokens\) exceeds the available context size \(` + number},              // llama.cpp
	{"input", "limit", `input token count (?:of )?\(?` + number + `\)? exceeds .*?\(?` + number + `\)?\s*\.?$`}, // Gemini
	{"input", "limit", `contains ` + number + ` tokens.*? with ` + number + ` maximum context`},                 // Mistral
	{"limit", `(?:maximum|max|available|limit of|limit is)[a-z ]*(?:context|input|tokens?|length|size|window)[a-z ]*[:=( ]+` + number},
	{"limit", `context (?:length|window|size|limit)(?: of| is)?[:=( ]+` + number},
})

// asked are the parts of a request that a refusal counted together.
var asked = regexp.MustCompile(`(?i)` + number + ` (?:tokens )?(?:in|of|from) (?:the |your )?(?:messages|prompt|input)\b.*?` + number + ` (?:tokens )?(?:in|for|of) (?:the |your )?(?:completion|output)`)

type refusal struct {
	names   []string
	pattern *regexp.Regexp
}

func compileRefusals(table [][]string) []refusal {
	out := make([]refusal, len(table))
	for i, row := range table {
		last := len(row) - 1
		out[i] = refusal{names: row[:last], pattern: regexp.MustCompile(`(?is)` + row[last])}
	}
	return out
}

// maxRefusal bounds what is looked through of a provider's words.
const maxRefusal = 4 << 10

// sizes finds in a refusal the most input tokens that a provider takes, and how many
// it counted; 0 for what it does not say.
func sizes(message string) (limit, counted int) {
	message = message[:min(len(message), maxRefusal)]
	for _, r := range refusals {
		m := r.pattern.FindStringSubmatch(message)
		if m == nil {
			continue
		}
		found := map[string]int{}
		for i, name := range r.names {
			found[name] = tokens(m[i+1])
		}
		limit, counted = found["limit"]-found["output"], found["input"]
		if parts := asked.FindStringSubmatch(message); parts != nil && found["output"] == 0 {
			limit, counted = limit-tokens(parts[2]), tokens(parts[1])
		}
		if limit > 0 {
			return limit, counted
		}
	}
	return 0, 0
}

// tokens reads a number with or without separators; 0 if it is none to believe.
func tokens(s string) int {
	n, err := strconv.Atoi(strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, s))
	if err != nil || n > 1<<40 {
		return 0
	}
	return n
}
