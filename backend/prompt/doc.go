// Package prompt assembles what the model sees: budget, sections, manifest
// (SPEC 6). It is pure: the same values in give the same bytes out, and it is
// the only maker of a PreparedContext.
package prompt
