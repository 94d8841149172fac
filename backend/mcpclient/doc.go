// Package mcpclient runs and calls MCP servers: programs on this machine and remote ones, as configured in
// [mcp.servers] (SPEC 10, docs/adr/0011).
//
// A server's output is untrusted, and everything is limited: the size of a message, the pages, number and size of
// definitions, the lines of its log, and the duration of each operation. A server gets a minimal environment and only
// its own secrets; no secret reaches a log or an error. It is started when first needed, in a process group that ends
// with it, and restarted with growing pauses when it ends.
//
// A call without a readable response is an error that does not wrap tools.ErrNotStarted: it is then unknown whether
// the tool ran. Nothing is repeated here.
package mcpclient
