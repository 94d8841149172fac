package secrets

import (
	"encoding/json"
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"

	"contextinfinity/backend/chat"
)

// Redactor replaces secrets in texts. It is safe for concurrent use. A nil Redactor only replaces texts in the form of a
// key.
type Redactor struct {
	state atomic.Pointer[redactions]
}

// redactions is what a Redactor replaces. A stored value is never changed.
type redactions struct {
	values   []string // longest first
	replacer *strings.Replacer
	patterns []*regexp.Regexp // the user's own
}

// NewRedactor returns a Redactor without known keys.
func NewRedactor() *Redactor { return &Redactor{} }

// shortestKnown is the minimum length of a value that is replaced anywhere: replacing a test key such as "abc" would
// make logs unreadable.
const shortestKnown = 6

// Add makes a key known, including its forms in JSON and addresses.
func (r *Redactor) Add(key string) {
	if state := r.state.Load(); len(key) < shortestKnown || state != nil && slices.Contains(state.values, key) {
		return
	}
	r.update(func(s *redactions) {
		for _, form := range forms(key) {
			if !slices.Contains(s.values, form) {
				s.values = append(s.values, form)
			}
		}
	})
}

// SetPatterns replaces the user's own patterns (redaction.patterns). Patterns that are not valid RE2 are left out; the
// configuration refuses them already.
func (r *Redactor) SetPatterns(patterns []string) {
	r.update(func(s *redactions) {
		s.patterns = nil
		for _, p := range patterns {
			if re, err := regexp.Compile(p); err == nil && !re.MatchString("") {
				s.patterns = append(s.patterns, re)
			}
		}
	})
}

func (r *Redactor) update(change func(*redactions)) {
	for {
		old := r.state.Load()
		next := &redactions{}
		if old != nil {
			next.values, next.patterns = slices.Clone(old.values), old.patterns
		}
		change(next)
		// Longest first: otherwise the rest of a key that contains another would remain.
		slices.SortFunc(next.values, func(a, b string) int { return len(b) - len(a) })
		var pairs []string
		for _, v := range next.values {
			pairs = append(pairs, v, Redacted)
		}
		next.replacer = strings.NewReplacer(pairs...)
		if r.state.CompareAndSwap(old, next) {
			return
		}
	}
}

func forms(key string) []string {
	out := []string{key, url.QueryEscape(key), url.PathEscape(key)}
	if quoted, err := json.Marshal(key); err == nil {
		out = append(out, string(quoted[1:len(quoted)-1]))
	}
	if quoted, err := chat.MarshalJSON(key); err == nil {
		out = append(out, string(quoted[1:len(quoted)-1]))
	}
	return out
}

// keyShapes match texts in the form of a key.
var keyShapes = []struct {
	re          *regexp.Regexp
	replacement string
}{
	{regexp.MustCompile(`(?i)\b(x-api-key|api[-_]?key|authorization|x-goog-api-key)(\\?["']?\s*[:=]\s*\\?["']?)(?:(?:bearer|basic)\s+)?[^\s"'\\,;&})\]]{6,}`), "$1$2" + Redacted},
	{regexp.MustCompile(`(?i)\b(bearer\s+)[A-Za-z0-9._~+/=-]{8,}`), "$1" + Redacted},
	{regexp.MustCompile(`\bsk-[A-Za-z0-9_-]{16,}`), Redacted},
	{regexp.MustCompile(`\bAIza[0-9A-Za-z_-]{30,}`), Redacted},
	{regexp.MustCompile(`\b(?:gsk_|xai-|hf_|ghp_|github_pat_|pplx-|nvapi-)[A-Za-z0-9_-]{16,}`), Redacted},
	{regexp.MustCompile(`\b(?:AKIA|ASIA)[0-9A-Z]{16}\b`), Redacted},
}

// keyHints occur in every text that a shape could match, so for most texts no pattern needs to run.
var keyHints = []string{"sk-", "aiza", "key", "bearer", "authorization", "gsk_", "xai-", "hf_", "ghp_", "github_pat_", "pplx-", "akia", "asia", "nvapi-"}

func mayHoldKey(s string) bool {
	lower := strings.ToLower(s)
	return slices.ContainsFunc(keyHints, func(hint string) bool { return strings.Contains(lower, hint) })
}

// Redact returns s without secrets: known keys, matches of the user's patterns, and texts in the form of a key.
func (r *Redactor) Redact(s string) string {
	if s == "" {
		return s
	}
	if state := r.load(); state != nil {
		s = state.replacer.Replace(s)
		for _, re := range state.patterns {
			s = re.ReplaceAllLiteralString(s, Redacted)
		}
	}
	if !mayHoldKey(s) {
		return s
	}
	for _, shape := range keyShapes {
		s = shape.re.ReplaceAllString(s, shape.replacement)
	}
	return s
}

func (r *Redactor) load() *redactions {
	if r == nil {
		return nil
	}
	return r.state.Load()
}

// Error returns err with redacted texts, for the places where errors leave the program. errors.Is, errors.As and
// chat.CodeOf return the same as before, but a *chat.Error found in it is a redacted copy. An error without secrets is
// returned unchanged.
func (r *Redactor) Error(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := err.(*chat.Error); ok { //nolint:errorlint // a wrapped one keeps its wrapping below
		return r.chatError(e)
	}
	if text := r.Redact(err.Error()); text != err.Error() || r.chainHoldsSecret(err) {
		return &redactedError{text: text, err: err, r: r}
	}
	return err
}

func (r *Redactor) chatError(e *chat.Error) *chat.Error {
	c := chat.NewError(e.Code, e.Op, e.Said().Map(r.Redact), e.Advised().Map(r.Redact))
	c.Err = r.Error(e.Err)
	return c
}

// chainHoldsSecret searches the causes of err: a wrapper's text need not contain its cause's.
func (r *Redactor) chainHoldsSecret(err error) bool {
	for e := errors.Unwrap(err); e != nil; e = errors.Unwrap(e) {
		if text := e.Error(); r.Redact(text) != text {
			return true
		}
	}
	return false
}

// redactedError hides its cause's text but matches like the cause. It has no Unwrap, so that code that prints the chain
// cannot reach the text.
type redactedError struct {
	text string
	err  error
	r    *Redactor
}

func (e *redactedError) Error() string { return e.text }

func (e *redactedError) Is(target error) bool { return errors.Is(e.err, target) }

func (e *redactedError) As(target any) bool {
	if !errors.As(e.err, target) {
		return false
	}
	if found, ok := target.(**chat.Error); ok {
		*found = e.r.chatError(*found)
	}
	return true
}
