// Package mcpserver lets other programs use this memory through the Model Context Protocol:
// search it, read a turn, list sessions and, if a person allows it, leave a note.
//
// Two parts that may be in different processes. A server (New, HTTP) speaks the protocol and
// knows no data. A Desk carries out one request on the data that is open: it decides what the
// program may see, and records what it was shown. Between them goes a Request and an Answer.
//
// Guarantees:
//   - A program sees nothing until a person has allowed it, and never an archived session.
//   - Nothing is answered that is not in the access record first.
//   - What a program calls itself decides nothing: over stdio its name is an argument of the
//     command that the person configured, over HTTP it is the one its token was made for.
//   - Answers are bounded, and framed as data of others.
package mcpserver
