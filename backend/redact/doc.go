// Package redact removes secrets from text before it is sent (SPEC 13): keys, tokens and passwords, recognized by
// their form, and whatever matches the user's own patterns.
//
// Guarantees:
//   - Redact is pure, so the same text is always sent as the same bytes.
//   - Its running time is linear in the length of the text (RE2 expressions, run only near their keywords).
//   - Its report never contains what was replaced.
//   - Text without secrets is unchanged, and redacting twice gives the same result as once.
//
// Redaction is a safety net, not a proof: a secret without a recognizable form is not found.
package redact
