// Package redact takes secrets out of text before it leaves (SPEC 13): keys,
// tokens and passwords by their form, and what the user's own patterns match.
//
// Guarantees: Redact is pure, so that the same text is always sent as the same
// bytes; its work is linear in the text (RE2 expressions, run only where a keyword
// of theirs stands); what it reports never holds what it replaced; a text without
// secrets comes back as it was; and redacting twice changes nothing more.
//
// It is a net, not a proof: a secret without a form of its own passes.
package redact
