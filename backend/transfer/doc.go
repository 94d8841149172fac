// Package transfer parses the histories exported by other programs (SPEC 12) into a neutral form: conversations whose
// messages are turns in a tree. It neither uses the store nor writes files. Its input is untrusted.
//
// A source's tree of messages (system, user, assistant, tool; several answers in a row; hidden messages) becomes turns: a
// user message, and everything that the assistant and its tools wrote until the next user message, as one assistant
// message. If an answer was regenerated, each version is a turn with the same user message, a sibling under the same
// parent. An answer without a question gets a user message of one Unknown block (NoMessage): a turn needs a non-empty
// user message, Unknown blocks are never sent to a provider, and no text is invented.
//
// Guarantees: memory is bounded by the largest single conversation, not by the file. A bad entry is skipped and
// reported with its position and the reason, and the rest is read. If a file is truncated, everything before the break is
// imported, and the report says where the break is. Content without a matching block type is kept raw in an Unknown
// block. The package makes no network requests. The same file always gives the same conversations and keys. If a file,
// an archive or an entry exceeds a limit, the report names the limit; all limits are constants of this package.
//
// The notices say what was changed or left out. For example, invalid UTF-8, unpaired surrogates and NUL characters
// become U+FFFD, and if two messages have the same id and different content, the second gets a new id.
package transfer
