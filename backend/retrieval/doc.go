// Package retrieval searches memory (SPEC 8): it searches by words and by vectors at the same time, ranks the results
// of both, and packs the best into a token budget. It does not depend on a specific store, index or embedder. The
// ranking, and what each constant contributes, is described in docs/recall.md.
//
// Guarantees: nothing outside the scope is ever returned, because only what the store lets through is read; packed
// artifacts never exceed the budget; the same memory and query give the same result.
package retrieval
