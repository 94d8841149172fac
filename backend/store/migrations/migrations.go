// Package migrations holds the migrations to the newest schema.
package migrations

import "embed"

// Files are the migrations in order. A released one never changes.
//
//go:embed *.sql
var Files embed.FS
