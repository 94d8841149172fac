// Package config reads, checks and edits config.toml (SPEC 16; SRD 18).
//
// Guarantees:
//   - One table of keys (keys.go, table.go) says every name, type, default and
//     bound; reading, validation, editing and the settings window derive from it.
//   - A file with any fault is refused whole, and every fault is named with file,
//     line and key. The previous good configuration stays in force; at first
//     start, the defaults.
//   - An edit keeps the comments, order and form of everything else, is checked
//     before it is written, and is written atomically with mode 0600. A file
//     that cannot be read is never overwritten.
//   - No key (API key) is read from the file, and no error text repeats a value
//     that could be one.
package config
