// Package config reads, checks and edits config.toml (SPEC 16; SRD 18).
//
// Guarantees:
//   - One table of keys (keys.go, table.go) defines every name, type, default and limit; reading, validation, editing
//     and the settings window derive from it.
//   - A file with any error is refused as a whole, and every error is reported with file, line and key. The previous
//     valid configuration stays in effect; at the first start, the defaults.
//   - An edit keeps the comments, order and form of everything else, is checked before it is written, and is written
//     atomically with mode 0600. An unreadable file is never overwritten.
//   - API keys are never read from the file, and no error text repeats a value that could be one.
package config
