package wire

import (
	"bytes"
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"

	"contextinfinity/backend/llm"
)

const redacted = "[redacted]"

// minKey is the shortest key that is looked for: blanking a shorter one would
// tear words apart, and no vendor's key is that short.
const minKey = 6

// keyShapes are texts that look like a key, whosever it is: a 401 may name
// another key than the one that was sent.
var keyShapes = regexp.MustCompile(
	`(?i)\b(?:bearer|basic)\s+[A-Za-z0-9._~+/=\-]{8,}` +
		`|\bx-api-key["':=\s]+[^\s"',}]{6,}` +
		`|\b(?:sk|pk|rk|gsk|xai|hf|pplx|csk|nvapi|ant)[-_][A-Za-z0-9_*.\-]{8,}` +
		`|\bAIza[A-Za-z0-9_\-]{10,}`)

// Redact blanks the endpoint's key, also in its URL-escaped form, and whatever
// has the shape of a key.
func Redact(text string, key llm.Secret) string {
	if k := key.Reveal(); len(k) >= minKey {
		text = strings.ReplaceAll(text, k, redacted)
		if esc := url.QueryEscape(k); esc != k {
			text = strings.ReplaceAll(text, esc, redacted)
		}
	}
	return keyShapes.ReplaceAllString(text, redacted)
}

// redactRaw blanks the endpoint's key in an event before anything stores it.
// Events that do not hold it are untouched: they stay exact.
func redactRaw(data []byte, key llm.Secret) []byte {
	k := key.Reveal()
	if len(k) < minKey || !bytes.Contains(data, []byte(k)) {
		return data
	}
	return bytes.ReplaceAll(data, []byte(k), []byte(redacted))
}

// maxWords bounds a provider's message, in bytes: enough for a sentence, too
// little for a prompt that is quoted back.
const maxWords = 600

// cleanWords makes a provider's words safe to show: redacted first, so that a
// cut never leaves half a key, then one line of bounded length.
func cleanWords(text string, key llm.Secret) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = strings.Join(strings.Fields(Redact(text, key)), " ")
	if len(text) <= maxWords {
		return text
	}
	cut := maxWords
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}
