// Package transfer reads the histories that other programs export (SPEC 12) into one
// neutral form: conversations whose messages are turns in a tree. It knows no store
// and writes nothing; what it is given to read is a stranger's, and is treated so.
//
// A foreign tree of messages (system, user, assistant, tool; many answers in a row;
// hidden ones) becomes turns: a user's message, and all that the assistant and its
// tools said until the user spoke again, as one assistant message. Where an answer was
// made again, each answer is a turn of its own with the same user message, a sibling
// under the same parent. An answer that nobody asked for gets a user message of one
// Unknown block (NoMessage): a turn must have a user message that is not empty, no
// provider is ever sent an Unknown block, and nobody's words are invented.
//
// Guarantees: memory is bounded by the largest single conversation and not by the
// file; a bad entry is skipped by itself, with its place and the reason, and the rest
// is read; of a torn file what was read is kept, and the report says where it ended;
// what no block describes is kept as it was in an Unknown block; nothing is fetched
// from anywhere; the same file gives the same conversations and keys on any day and
// machine; every limit is a constant of this package and is named when it is met.
//
// Two things are changed and said in the notices: bytes that are not UTF-8, halves of
// surrogate pairs and NUL characters become U+FFFD, and of two messages with one id
// and different content the second gets an id of its own.
package transfer
