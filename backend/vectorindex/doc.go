// Package vectorindex finds the nearest vectors (SPEC 8). It is derived: it lives
// in memory alone, is built from the store at the first search of a scope, reads on
// from there at each further search, and is built again when the store says that
// reading on would not do. What the store has saved in blocks is read first, in a
// fifteenth of the time that rows take. Nothing is lost with it, and a vector that
// cannot be read is left out and counted, never an error.
//
// One shard holds the vectors of one session, or of all. Three engines are behind
// one interface and pass one conformance suite:
//
//   - chromem-go for a session of up to maxChromem vectors; it walks every document;
//   - codes, an exact scan of signed bytes, for vectors of up to maxCodes dimensions:
//     the embedded embedder's hashed vectors keep too little in their signs (measured
//     on 10 000 units of conversation: of the exact top 20, the nearest 2 % by sign
//     bits hold 52 %, the nearest 10 % 80 %), and as the store keeps bytes too, nothing
//     is lost;
//   - bits, sign bits and popcount, for longer vectors: the nearest by Hamming
//     distance are read from the store and ranked by their exact cosine.
//
// Warm reads all vectors ahead, as far as they fit. While they are held as bytes, a session
// is searched among them and has no shard of its own.
//
// A scope is asked once for each branch. Results are by cosine, then by n. Memory is
// in proportion to the scopes searched, bounded by maxBytes (the shard in use may
// exceed it alone), and given back after idleAfter without a search.
package vectorindex
