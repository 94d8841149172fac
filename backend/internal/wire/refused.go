package wire

import (
	"strconv"
	"strings"

	"contextinfinity/backend/internal/pattern"
	"contextinfinity/backend/llm"
)

// optionalMembers are the members of a request that can be left out, or that have another form.
var optionalMembers = []string{
	"max_completion_tokens", "max_tokens", "stream_options", "parallel_tool_calls", "reasoning_effort", "temperature",
	"prompt_cache_key", "truncation", "store", "include",
}

var (
	refusedMember = pattern.New(`(?i)unsupported|not (support|permit|allow|accept)|unknown|unrecognized|unexpected|extra_forbidden|does not exist|invalid param`)
	systemRefused = pattern.New(`(?i)(system|developer) (role|messages?|prompts?|instructions?)[^.]{0,40}(not (supported|allowed|enabled)|unsupported)` +
		`|role[^.]{0,20}system[^.]{0,30}(not supported|invalid|unsupported)|(developer|system) instruction is not enabled|only user and assistant roles`)
	afterTool       = pattern.New(`(?i)role\W+user\W+after role\W+tool`)
	toolRefused     = pattern.New(`(?i)invalid schema for (?:function|tool) ['"` + "`" + `]([A-Za-z0-9_.-]{1,128})['"` + "`" + `]`)
	thoughtsMissing = pattern.New(`(?i)reasoning_content[^.]{0,60}(must be|missing|required)|missing .?reasoning_content`)
	answerLimit     = pattern.New(`(?i)(?:at most|up to|<=|less than or equal to|maximum[a-z ]*(?:of|is|:)|limit (?:of|is)|\[1, ?) ?` + number)
)

// refusedPart finds the part of a request that a refusal is about (llm.Error.Refused).
func refusedPart(w Words) string {
	text := w.Message[:min(len(w.Message), maxRefusal)]
	switch {
	case thoughtsMissing().MatchString(text):
		return llm.RefusedNoThoughts
	case afterTool().MatchString(text):
		return llm.RefusedAfterTool
	case toolRefused().MatchString(text):
		return llm.RefusedTool + toolRefused().FindStringSubmatch(text)[1]
	case systemRefused().MatchString(text):
		return llm.RefusedSystem
	}
	for _, name := range optionalMembers {
		if w.Param != name && !(w.Param == "" && mentions(text, name)) {
			continue
		}
		if refusedMember().MatchString(w.Code + " " + w.Type + " " + text) {
			return name
		}
		if limit := answerLimit().FindStringSubmatch(text); limit != nil && strings.HasPrefix(name, "max_") && tokens(limit[1]) > 0 {
			return llm.RefusedMaxTokens + strconv.Itoa(tokens(limit[1]))
		}
	}
	return ""
}

// mentions reports whether a message names a member: in quotes, because some are also words.
func mentions(text, name string) bool {
	if strings.Contains(name, "_") {
		return strings.Contains(text, name)
	}
	return strings.Contains(text, "'"+name+"'") || strings.Contains(text, `"`+name+`"`) || strings.Contains(text, "`"+name+"`")
}

// WithoutRefused removes from a body what the server has refused, except what the user's options set.
func WithoutRefused(body map[string]any, ep llm.Endpoint) {
	for _, name := range ep.Refused {
		_, set := ep.Options[name]
		value, sent := body[name]
		if set || !sent {
			continue
		}
		delete(body, name)
		switch name { // the two names of the same limit
		case "max_tokens":
			body["max_completion_tokens"] = value
		case "max_completion_tokens":
			body["max_tokens"] = value
		}
	}
}

// AnswerLimit returns the output limit of a request, or the lower one that the server has named.
func AnswerLimit(limit int, ep llm.Endpoint) int {
	for _, part := range ep.Refused {
		if n, err := strconv.Atoi(strings.TrimPrefix(part, llm.RefusedMaxTokens)); err == nil && strings.HasPrefix(part, llm.RefusedMaxTokens) {
			limit = min(limit, n)
		}
	}
	return limit
}
