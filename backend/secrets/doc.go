// Package secrets finds, keeps and hides API keys (SPEC 13; SRD 14.1).
//
// A key is looked for in this order: one pasted during this run on a system
// without a keyring, the system keyring, the environment variable. What a person
// pasted on purpose wins over what happens to be in the environment.
//
// Guarantees: a key is written nowhere but into the system's keyring; a Key does
// not print, log or encode; every key that was ever looked up or set is replaced
// by [redacted] in whatever passes a Redactor, as is what has the form of a key.
// A keyring that does not answer delays a call by Timeout once and never blocks
// for longer; an answer that comes late still counts.
package secrets
