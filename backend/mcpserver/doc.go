// Package mcpserver lets other programs use this memory through the Model Context Protocol: search it, read a turn,
// list sessions and, if the user allows it, leave a note.
//
// It has two parts, which may run in different processes. A server (New, HTTP) speaks the protocol and has no access
// to the data. A Gateway runs one request on the open data: it decides what the program may see, and records what it was
// shown. They exchange a Request and an Answer.
//
// Guarantees:
//   - A program sees nothing until the user has allowed it, and never an archived session.
//   - Every answer is in the access record before it is returned.
//   - The name that a program gives itself decides nothing. Over stdio its name is an argument of the command that
//     the user configured; over HTTP it is the name that its token was created for.
//   - Answers are bounded, and framed as data.
package mcpserver
