// Package builtin provides the program's own tools (SPEC 10): reading earlier conversations and, in configured folders,
// reading and writing files and running commands.
//
// Guarantees: a path never leads out of a folder, whatever links exist; tool output is limited; a command ends with
// its call, including all processes that it started.
package builtin
