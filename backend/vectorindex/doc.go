// Package vectorindex finds the nearest vectors (SPEC 8). It is derived and only in memory: it is built from the
// store at the first search of a scope, extended at each further search, and rebuilt when the store's generation
// changes. Vectors that the store has saved in blocks are read first, which takes a fifteenth of the time of reading
// rows. An unreadable vector is skipped and counted, never an error.
//
// One shard holds the vectors of one session, or of all. Three engines implement one interface and pass one
// conformance suite:
//
//   - chromem-go for a session of up to maxChromem vectors; it walks every document;
//   - codes, an exact scan of signed bytes, for vectors of up to maxCodes dimensions:
//     hashed vectors keep too little in their signs (measured
//     on 10 000 units of conversation: of the exact top 20, the nearest 2 % by sign
//     bits hold 52 %, the nearest 10 % 80 %), and as the store keeps bytes too, nothing
//     is lost;
//   - signs, sign bits and popcount, for longer vectors: the nearest by Hamming
//     distance are read from the store and ranked by their exact cosine.
//
// Warm loads all vectors in advance, if they fit, for searches of all sessions.
//
// A scope is evaluated once per branch. Results are sorted by cosine, then by n. Memory is proportional to the scopes
// searched, limited by maxBytes (the shard in use may exceed it alone), and released after idleAfter without a
// search.
package vectorindex
