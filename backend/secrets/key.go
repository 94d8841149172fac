package secrets

import (
	"fmt"
	"log/slog"
)

// Redacted is the text that replaces a secret wherever one would be shown.
const Redacted = "[redacted]"

// Key is an API key or another secret. It cannot be printed, logged or encoded, not even inside another value, because
// its text is behind a pointer. The zero Key means no key.
type Key struct{ text *string }

func newKey(s string) Key { return Key{&s} }

// Reveal returns the text of the key.
func (k Key) Reveal() string {
	if k.text == nil {
		return ""
	}
	return *k.text
}

// IsZero reports whether there is no key.
func (k Key) IsZero() bool { return k.text == nil || *k.text == "" }

func (k Key) String() string { return Redacted }

// Format hides the text from every verb, including %x and %#v.
func (k Key) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(Redacted)) }

// MarshalText hides the text from encoders.
func (k Key) MarshalText() ([]byte, error) { return []byte(Redacted), nil }

// LogValue hides the text from logs.
func (k Key) LogValue() slog.Value { return slog.StringValue(Redacted) }
