package models

import (
	"contextinfinity/backend/llm"
	"contextinfinity/backend/secrets"
)

// Keyring gives the catalog and the window access to the keys in a secrets store.
type Keyring struct{ *secrets.Store }

// Key finds a key by the name under which it is stored, or in the environment.
func (k Keyring) Key(name, env string) (llm.Secret, bool) {
	key, _ := k.Get(name, env)
	return llm.Secret(key.Reveal()), !key.IsZero()
}

// SetKey stores a key and reports whether it is kept after this run.
func (k Keyring) SetKey(name, key string) (persistent bool, err error) {
	source, err := k.Set(name, key)
	return source == secrets.SourceKeyring, err
}

// Where returns where a key is stored: "keyring", "environment", "this run" or "".
func (k Keyring) Where(name, env string) string { return string(k.Source(name, env)) }
