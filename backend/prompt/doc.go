// Package prompt assembles the context that is sent to the model: budget, sections, manifest (SPEC 6). It is pure:
// the same input gives the same bytes, and only this package creates a PreparedContext.
package prompt
