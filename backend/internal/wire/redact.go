package wire

import (
	"bytes"
	"net/url"
	"strconv"
	"strings"

	"contextinfinity/backend/internal/display"
	"contextinfinity/backend/internal/pattern"
	"contextinfinity/backend/llm"
)

const redacted = "[redacted]"

// minKey is the minimum length of a key that is searched for: shorter ones would match parts of words, and no
// vendor's key is that short.
const minKey = 6

// keyShapes match any text that looks like a key: a 401 may name another key than the one that was sent.
var keyShapes = pattern.New(
	`(?i)\b(?:bearer|basic)\s+[A-Za-z0-9._~+/=\-]{8,}` +
		`|\bx-api-key["':=\s]+[^\s"',}]{6,}` +
		`|\b(?:sk|pk|rk|gsk|xai|hf|pplx|csk|nvapi|ant)[-_][A-Za-z0-9_*.\-]{8,}` +
		`|\bAIza[A-Za-z0-9_\-]{10,}`)

// Redact replaces the endpoint's secrets, including their URL and JSON encoding, and everything that looks like a key.
func Redact(text string, secrets ...llm.Secret) string {
	return keyShapes().ReplaceAllString(string(redactAll([]byte(text), secrets)), redacted)
}

func redactAll(data []byte, secrets []llm.Secret) []byte {
	for _, secret := range secrets {
		data = redactRaw(data, secret)
	}
	return data
}

// redactRaw replaces the endpoint's key in an event before it is stored, in every encoding: a server may escape its
// slashes, or write other characters as \u002b. Events without the key stay unchanged.
func redactRaw(data []byte, key llm.Secret) []byte {
	k := key.Reveal()
	if len(k) < minKey {
		return data
	}
	data = blank(data, k)
	query := url.QueryEscape(k)
	if query != k {
		data = blank(data, query)
	}
	if path := url.PathEscape(k); path != k && path != query {
		data = blank(data, path)
	}
	return data
}

// blank replaces s, literal or with any of its characters escaped for JSON.
func blank(data []byte, s string) []byte {
	if bytes.IndexByte(data, '\\') < 0 {
		if !bytes.Contains(data, []byte(s)) {
			return data
		}
		return bytes.ReplaceAll(data, []byte(s), []byte(redacted))
	}
	var out []byte
	copied := 0 // up to this position data was copied to out
	for i := 0; i < len(data); i++ {
		if data[i] != s[0] && data[i] != '\\' {
			continue
		}
		if end, ok := matchEscaped(data, i, s); ok {
			out = append(append(out, data[copied:i]...), redacted...)
			copied, i = end, end-1
		}
	}
	if copied == 0 {
		return data
	}
	return append(out, data[copied:]...)
}

// maxSlashes limits how deeply JSON may be nested in JSON strings, each of which doubles the backslashes and adds
// one; the limit keeps blank linear.
const maxSlashes = 15

// matchEscaped reports whether s is at data[at:] and where it ends.
func matchEscaped(data []byte, at int, s string) (end int, ok bool) {
	for i := range len(s) {
		n := escapedLength(data[at:], s[i])
		if n == 0 {
			return 0, false
		}
		at += n
	}
	return at, true
}

// escapedLength returns how many bytes at the front of data represent c, 0 for none.
func escapedLength(data []byte, c byte) int {
	slashes := 0
	for slashes < min(len(data), maxSlashes) && data[slashes] == '\\' {
		slashes++
	}
	rest := data[slashes:]
	switch {
	case slashes > 0 && len(rest) >= 5 && rest[0] == 'u' && isHex(rest[1:5], c):
		return slashes + 5
	case c == '\\' && slashes > 0:
		return slashes
	case len(rest) == 0 || rest[0] != c:
		return 0
	case slashes == 0 || c == '/' || c == '"':
		return slashes + 1
	}
	return 0
}

// isHex reports whether four hexadecimal digits are the code of c.
func isHex(digits []byte, c byte) bool {
	n, err := strconv.ParseUint(string(digits), 16, 16)
	return err == nil && n == uint64(c)
}

// maxWords limits a provider's message, in bytes: enough for a sentence, too short for a quoted prompt.
const maxWords = 600

// cleanWords makes a provider's message safe to show: redacted first, so that a cut never leaves half a key, then one
// line of limited length.
func cleanWords(text string, secrets ...llm.Secret) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = strings.Join(strings.Fields(Redact(text, secrets...)), " ")
	if len(text) <= maxWords {
		return text
	}
	return display.Start(text, maxWords) + "…"
}
