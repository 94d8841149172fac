package models

import (
	"contextinfinity/backend/llm"
	"contextinfinity/backend/secrets"
)

// Keyring gives the catalog and the window keys out of a secrets store.
type Keyring struct{ *secrets.Store }

// Key finds a key by the name it is kept under, or in the environment.
func (k Keyring) Key(name, env string) (llm.Secret, bool) {
	key, _ := k.Get(name, env)
	return llm.Secret(key.Reveal()), !key.IsZero()
}

// SetKey keeps a key and reports whether it outlives this run.
func (k Keyring) SetKey(name, key string) (persistent bool, err error) {
	source, err := k.Set(name, key)
	return source == secrets.SourceKeyring, err
}

// RemoveKey forgets a stored key.
func (k Keyring) RemoveKey(name string) error { return k.Remove(name) }

// Where says where a key is: "keyring", "environment", "this run" or "".
func (k Keyring) Where(name, env string) string { return string(k.Source(name, env)) }
