// Package responses is the Responses API's wire form (SPEC 9; SRD 11.2): a context
// becomes the exact body of a request, events become an answer. It is pure and
// does without the vendor's SDK, so that recovery, fuzzing and tests do too.
package responses

// Provider is the adapter's name, which opaque blocks are bound to.
const Provider = "openai"
