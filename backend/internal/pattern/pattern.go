// Package pattern holds regular expressions that are compiled on first use: a command that runs for a tenth of a
// second needs almost none of them.
package pattern

import (
	"regexp"
	"sync"
)

// Pattern returns a regular expression, which it compiles on the first call. It is safe for concurrent use.
type Pattern func() *regexp.Regexp

// New returns the pattern of an expression. An invalid one panics on first use.
func New(expr string) Pattern {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
