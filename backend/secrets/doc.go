// Package secrets finds, stores and hides API keys (SPEC 13; SRD 14.1).
//
// Keys are searched for in this order: one pasted during this run on a system without a keyring, the system keyring,
// the environment variable. So a key that the user pasted takes precedence over the environment.
//
// Guarantees: a key is only written to the system's keyring; a Key cannot be printed, logged or encoded; a Redactor
// replaces every key that was ever looked up or set, and every text in the form of a key, by [redacted]. A keyring that
// does not answer delays a call once, by Timeout, and never blocks longer; a late answer is still used.
package secrets
