// Package retrieval finds what was said (SPEC 8): it searches by words and by vectors
// at the same time, ranks what both find, and packs the best into a budget of tokens.
// Nothing here knows which store, index or embedder it has. How it ranks and what each
// number is worth: docs/recall.md.
//
// Guarantees: nothing outside the scope is ever answered, since only what the store
// lets through is read; what is packed never costs more than was asked for; the same
// memory and query give the same result.
package retrieval
