package mcpclient

import (
	"cmp"
	"encoding/base64"
	"net/url"
	"slices"
	"strings"

	"contextinfinity/backend/internal/scrub"
)

// hide redacts values in logs, errors, results and definitions from now on.
func (s *server) hide(values ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range values {
		if len(v) < shortestHidden {
			continue // otherwise every "1" in a log would be redacted
		}
		s.hidden = append(s.hidden, encodings(v)...)
	}
	slices.SortFunc(s.hidden, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	s.hidden = slices.Compact(s.hidden)
}

// encodings returns the forms of a secret in texts: plain, in an address, and in base64, where the number of preceding
// bytes determines which of three forms it has.
func encodings(secret string) []string {
	out := []string{secret, url.QueryEscape(secret), url.PathEscape(secret)}
	for before := range 3 {
		if len(secret) < shortestEncoded {
			break
		}
		bytes := append(make([]byte, before), secret...)
		first, end := (before*8+5)/6, len(bytes)*8/6 // the characters that only contain bits of the secret
		for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			out = append(out, e.EncodeToString(bytes)[first:end])
		}
	}
	return out
}

// shortestEncoded is the minimum length of a secret that is searched for in base64.
const shortestEncoded = 8

// shortestHidden is the minimum length of a secret that is redacted anywhere in logs.
const shortestHidden = 4

// redact removes secrets from a text, including quoted JSON.
func (s *server) redact(text string) string { return scrub.Text(text, s.plainRedact) }

func (s *server) plainRedact(text string) string {
	s.mu.Lock()
	hidden := append([]string{}, s.hidden...)
	s.mu.Unlock()
	for _, v := range hidden {
		text = strings.ReplaceAll(text, v, "[redacted]")
	}
	if s.m.deps.Redact != nil {
		text = s.m.deps.Redact(text)
	}
	return text
}
