// Package migrations holds the steps that bring a database to the newest schema.
package migrations

import "embed"

// Files are the steps, in the order of their numbers. One that was released never changes.
//
//go:embed *.sql
var Files embed.FS
