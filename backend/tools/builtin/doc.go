// Package builtin holds the program's own tools (SPEC 10): those that read what was said in
// earlier conversations, and, in folders that a person gave, those that read and write files
// and run commands.
//
// Guarantees: a path never leads out of a folder, whatever links there are; what a tool
// answers is bounded; a command ends with its call, together with all that it started.
package builtin
