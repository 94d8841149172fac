// Package vault exchanges sessions with the other devices of a person through a place that only stores files, such as a
// folder that is synchronized (docs/vault.md, docs/adr/0023). It decides what is written and read, and in which order; the
// store cuts ledgers into segments and merges those of others.
package vault
