package redact

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/pattern"
	"contextinfinity/backend/prompt"
)

// version must be changed whenever a rule changes: a context that was redacted by other rules cannot be reproduced
// byte for byte.
const version = "2"

// patternRule is the rule name for matches of the user's patterns.
const patternRule = "pattern"

// Redactor replaces secrets. It is safe for concurrent use.
type Redactor struct {
	enabled  bool
	patterns []*regexp.Regexp
	rules    string
}

// New compiles the user's patterns (redaction.patterns, RE2). If outbound is false, nothing is replaced.
func New(outbound bool, patterns []string) (*Redactor, error) {
	r := &Redactor{enabled: outbound, rules: "off"}
	for i, p := range patterns {
		re, err := regexp.Compile(p)
		if err != nil {
			return nil, chat.WrapError(chat.CodeConfig, "redact.new", err,
				"Pattern %d of redaction.patterns is not a regular expression.", i+1).
				WithHint("use RE2 syntax; nothing is sent until it is valid")
		}
		r.patterns = append(r.patterns, re)
	}
	if outbound {
		sum := sha256.Sum256([]byte(strings.Join(patterns, "\x00")))
		r.rules = version + "-" + hex.EncodeToString(sum[:6])
	}
	return r, nil
}

// Rules identifies the rules in use: texts redacted under the same identifier are equal byte for byte.
func (r *Redactor) Rules() string { return r.rules }

// span is a part of a text that is replaced.
type span struct {
	from, to int
	rule     string
}

// maxPasses limits how often a text is searched again after a replacement, which can reveal another secret.
const maxPasses = 4

// Redact replaces each secret by "[redacted:RULE]". It returns the rule and the length of each replacement.
func (r *Redactor) Redact(s string) (clean string, found []prompt.Redaction) {
	if !r.enabled {
		return s, nil
	}
	for range maxPasses {
		spans := r.find(s)
		if len(spans) == 0 {
			break
		}
		var b strings.Builder
		pos := 0
		for _, sp := range spans {
			b.WriteString(s[pos:sp.from] + mark(sp.rule))
			pos = sp.to
			found = append(found, prompt.Redaction{Rule: sp.rule, Bytes: sp.to - sp.from})
		}
		b.WriteString(s[pos:])
		s = b.String()
	}
	return s, found
}

// markStart begins the replacement of a secret. Existing replacements are left alone, since a text may be redacted
// more than once.
const markStart = "[redacted:"

func mark(rule string) string { return markStart + rule + "]" }

var marks = pattern.New(`\[redacted:[a-z\-]{2,40}\]`)

// find returns all secrets in a text, in order and without overlaps.
func (r *Redactor) find(s string) []span {
	var t spanSet
	if strings.Contains(s, markStart) {
		for _, m := range marks().FindAllStringIndex(s, -1) {
			t.add(span{m[0], m[1], ""})
		}
		t.merge()
	}
	for _, re := range r.patterns {
		for _, m := range re.FindAllStringIndex(s, -1) {
			t.add(span{m[0], m[1], patternRule})
		}
		t.merge()
	}
	for i, positions := range keywordsIn(s) {
		if len(positions) > 0 {
			rules[i].find(s, positions, t.add)
			t.merge()
		}
	}
	return slices.DeleteFunc(t.spans, func(sp span) bool { return sp.rule == "" })
}

// spanSet collects spans without overlaps. The spans of the current rule are kept apart until merge.
type spanSet struct {
	spans   []span // of the previous rules, sorted
	current []span // of the current rule
}

func (t *spanSet) add(sp span) {
	if sp.from >= sp.to {
		return
	}
	i, _ := slices.BinarySearchFunc(t.spans, sp.from, func(other span, from int) int { return other.to - 1 - from })
	if i < len(t.spans) && t.spans[i].from < sp.to {
		return // an earlier rule has matched this text
	}
	if n := len(t.current); n > 0 && t.current[n-1].to > sp.from {
		return
	}
	t.current = append(t.current, sp)
}

func (t *spanSet) merge() {
	if len(t.current) == 0 {
		return
	}
	t.spans = append(t.spans, t.current...)
	t.current = nil
	slices.SortFunc(t.spans, func(a, b span) int { return a.from - b.from })
}

// find runs the rule's expression around the positions of its keywords.
func (r *rule) find(s string, positions []int, add func(span)) {
	done := 0
	for i := 0; i < len(positions); {
		from, to := max(positions[i]-r.before, done, 0), positions[i]+r.after
		for i++; i < len(positions) && positions[i]-r.before <= to; i++ { // windows that touch are merged
			to = positions[i] + r.after
		}
		to = min(to, len(s))
		if from >= to {
			continue
		}
		for _, m := range r.re().FindAllStringSubmatchIndex(s[from:to], -1) {
			lo, hi := r.secret(m)
			if r.trim && lo >= 0 {
				hi = lo + len(strings.TrimRight(s[from+lo:from+hi], ".,;:"))
			}
			if lo >= 0 && r.accepts(s[from+lo:from+hi], s[from+hi:]) {
				add(span{from + lo, from + hi, r.name})
			}
		}
		done = to
	}
}

// secret returns the part of a match to replace: the rule's group, or the first later group that matched if the
// expression has alternatives.
func (r *rule) secret(m []int) (from, to int) {
	if r.group == 0 {
		return m[0], m[1]
	}
	for g := r.group; 2*g+1 < len(m); g++ {
		if m[2*g] >= 0 {
			return m[2*g], m[2*g+1]
		}
	}
	return -1, -1
}

// accepts makes the final decision about a match.
func (r *rule) accepts(secret, after string) bool {
	if r.entropy > 0 && entropy(secret) < r.entropy {
		return false
	}
	return r.check == nil || r.check(secret, after)
}

// entropy returns the entropy of a text in bits per character.
func entropy(s string) float64 {
	var counts [256]int
	for i := range len(s) {
		counts[s[i]]++
	}
	h, n := 0.0, float64(len(s))
	for _, c := range counts {
		if c > 0 {
			p := float64(c) / n
			h -= p * math.Log2(p)
		}
	}
	return h
}

// placeholders are values that documentation and templates have in place of a secret.
var placeholders = pattern.New(`(?i)^(?:x{3,}|\*{3,}|\.{3,}|<.*>|\$\{.*|\$\(.*|\$[A-Z_]+|%[A-Z_]+%|\{\{.*|your[_\-]?.*|my[_\-]?(?:password|secret|token|key)|(?:the|a|some)[_\-].*` +
	`|example.*|changeme.*|change[_\-]me.*|placeholder.*|redacted.*|dummy.*|sample.*|null|none|nil|undefined|true|false|string|password|passwd|secret|token|user(?:name)?|pass)$`)

func isNotPlaceholder(s, _ string) bool { return !placeholders().MatchString(s) }

// assignedEntropy is the minimum entropy of a value that is considered secret only because of the name it is assigned
// to.
const assignedEntropy = 3.0

// isAssignedSecret reports whether an assigned value is a secret, rather than something else that code and prose assign
// to such names: a call, a path, a type, another name, a word.
func isAssignedSecret(s, after string) bool {
	if len(s) < 6 || placeholders().MatchString(s) || strings.HasPrefix(after, "(") || entropy(s) < min(assignedEntropy, 0.65*math.Log2(float64(len(s)))) {
		return false
	}
	letters, digits, others := 0, 0, 0
	for _, c := range s {
		switch {
		case unicode.IsLetter(c):
			letters++
		case unicode.IsDigit(c):
			digits++
		default:
			others++
		}
	}
	switch {
	case strings.Contains(s, "://") || strings.HasPrefix(s, "/") || strings.HasPrefix(s, "./") || strings.HasPrefix(s, "~/"):
		return false
	case strings.ContainsAny(s, "()") || letters == 0 && others > 0:
		return false
	case digits == 0: // a name or a word, unless it contains characters that names do not have
		return strings.ContainsAny(s, "!@#$%^&*+=?/") && hasBothCases(s)
	}
	return letters > 0 && !dotted().MatchString(s)
}

// dotted matches a qualified name in code.
var dotted = pattern.New(`^[A-Za-z_$][\w$]{0,30}(?:\.[A-Za-z_$][\w$]{0,30})+$`)

func hasBothCases(s string) bool {
	return strings.ToLower(s) != s && strings.ToUpper(s) != s
}
