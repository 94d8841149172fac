package secrets

import (
	"fmt"
	"log/slog"
)

// Redacted replaces every secret.
const Redacted = "[redacted]"

// Key is an API key that does not print, log or encode, not even inside another
// value: the text is behind a pointer. The zero Key is not a key.
type Key struct{ text *string }

func newKey(s string) Key { return Key{&s} }

// Reveal returns the key itself, for the one header that carries it.
func (k Key) Reveal() string {
	if k.text == nil {
		return ""
	}
	return *k.text
}

// IsZero reports that there is no key.
func (k Key) IsZero() bool { return k.text == nil || *k.text == "" }

func (k Key) String() string { return Redacted }

// Format keeps every verb, %x and %#v included, from the text.
func (k Key) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(Redacted)) }

// MarshalText keeps encoders from it.
func (k Key) MarshalText() ([]byte, error) { return []byte(Redacted), nil }

// LogValue keeps logs from it.
func (k Key) LogValue() slog.Value { return slog.StringValue(Redacted) }
