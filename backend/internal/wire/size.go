package wire

import (
	"slices"
	"strconv"
	"strings"

	"contextinfinity/backend/internal/pattern"
)

// number is a count of tokens as vendors write it.
const number = `(\d[\d,_.]*\d|\d)`

// refusals match the messages of vendors and servers for a request over their context window, with the meaning of the
// numbers in them: limit, counted input, requested output.
var refusals = compileRefusals([][]string{
	{"limit", "input", `maximum context length (?:is|of) ` + number + `(?: tokens?)?.*?\b(?:resulted in|contains?|has|requested(?: about)?) ` + number + ` (?:input )?tokens`},
	{"input", "limit", number + ` tokens? > ` + number},                                                          // Anthropic
	{"input", "output", "limit", `\b` + number + `\)? \+ [^\d.]{0,24}` + number + `\)? > [^\d.]{0,24}` + number}, // Anthropic and others
	{"input", "output", "limit", `prompt is ` + number + ` tokens long, so generating ` + number + ` tokens .*? is just ` + number},
	{"input", "limit", number + `\)?[^\d.]{0,30}exceed(?:s|ed)?[^\d.]{0,60}` + number},
	{"input", "limit", `\(` + number + ` tokens\) exceeds the available context size \(` + number},                       // llama.cpp
	{"input", "limit", `input token count (?:of )?\(?` + number + `\)? exceeds .*?\(?` + number + `\)?\s*\.?$`},          // Gemini
	{"input", "limit", `contains ` + number + ` tokens.*? with ` + number + ` maximum context`},                          // Mistral
	{"limit", "input", "output", `must be <= ` + number + `\. Given: ` + number + ` \S*inputs?\S* tokens and ` + number}, // text-generation-inference
})

// limitAlone matches messages whose only number is the limit.
var limitAlone = compileRefusals([][]string{
	{"limit", `(?:maximum|max|available|limit of|limit is|allowed|supported|only)[a-z ]*(?:context|input|tokens?|length|size|window|of|is|allowed|only)?[a-z ]*[:=( ]+` + number},
	{"limit", `(?:context|token|model)[a-z ]* (?:length|window|size|limit)(?: of| is)?(?: only)?[:=( ]+` + number},
	{"limit", `limit (?:of|for) (?:this|the) model is ` + number},
	{"limit", `input length should be \[\d+, ?` + number}, // DashScope
})

// separateNumbers finds the numbers in a message that are not part of a name or a date.
var separateNumbers = pattern.New(`(?:^|[^\w.,-])(\d[\d,_.]*\d|\d)(?:$|[^\w-])`)

// minCount is the smallest number that is taken for a count of tokens, not for a status.
const minCount = 1000

// counts returns the distinct counts in a message, in order.
func counts(message string) []int {
	var found []int
	for _, m := range separateNumbers().FindAllStringSubmatch(message, -1) {
		if n := tokens(m[1]); n >= minCount && !slices.Contains(found, n) {
			found = append(found, n)
		}
	}
	return found
}

// requestParts finds the two parts of a requested size that a message states as one number.
var requestParts = pattern.New(`(?i)` + number + ` (?:tokens )?(?:in|of|from) (?:the |your )?(?:messages|prompt|input)\b.*?` + number + ` (?:tokens )?(?:in|for|of) (?:the |your )?(?:completion|output)`)

type refusal struct {
	names   []string
	pattern pattern.Pattern
}

func compileRefusals(table [][]string) []refusal {
	out := make([]refusal, len(table))
	for i, row := range table {
		last := len(row) - 1
		out[i] = refusal{names: row[:last], pattern: pattern.New(`(?is)` + row[last])}
	}
	return out
}

// maxRefusal limits how much of a provider's message is examined.
const maxRefusal = 4 << 10

// sizes finds the maximum number of input tokens in a message, and how many the provider counted; 0 if missing. If an
// unknown message has two numbers, the greater one is taken for the size of the request.
func sizes(message string) (limit, counted int) {
	message = message[:min(len(message), maxRefusal)]
	if limit, counted = named(refusals, message); limit > 0 {
		return limit, counted
	}
	if found := counts(message); len(found) == 2 {
		return slices.Min(found), slices.Max(found)
	}
	return named(limitAlone, noLimit().ReplaceAllString(message, ""))
}

// noLimit matches numbers that are not a limit: how much is too much, and a code in brackets.
var noLimit = pattern.New(`(?i)\b(by|reduce|remove|shorten by)( about| at least)? ` + number + `( tokens)?|\(\d+\)\W*$`)

// answerShare is the share of a window that an answer may take when the two do not fit together: more than half of it
// would leave too little for the conversation.
const answerShare = 4

// shorterAnswer returns the length of answer with which a refused request could fit, if the requested one takes more than
// half of the window; otherwise 0.
func shorterAnswer(message string) int {
	message = message[:min(len(message), maxRefusal)]
	for _, r := range slices.Concat(refusals, limitAlone) {
		if window, _, output := r.read(message); window > 0 && output > window/2 {
			return window / answerShare
		}
	}
	return 0
}

// read returns the numbers of a message; 0 for those that it does not have.
func (r refusal) read(message string) (window, input, output int) {
	m := r.pattern().FindStringSubmatch(message)
	if m == nil {
		return 0, 0, 0
	}
	found := map[string]int{}
	for i, name := range r.names {
		found[name] = tokens(m[i+1])
	}
	window, input, output = found["limit"], found["input"], found["output"]
	if parts := requestParts().FindStringSubmatch(message); parts != nil && output == 0 {
		input, output = tokens(parts[1]), tokens(parts[2])
	}
	return window, input, output
}

// named reads the numbers of the first matching pattern.
func named(patterns []refusal, message string) (limit, counted int) {
	for _, r := range patterns {
		window, input, output := r.read(message)
		if limit = window - output; output > window/2 && output < window {
			limit = max(limit, window/answerShare) // a shorter answer leaves more
		}
		if limit > 0 {
			return limit, input
		}
	}
	return 0, 0
}

// tokens reads a number with or without separators; 0 if it is implausible.
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
