// Package mcpclient runs and asks MCP servers: programs on this machine and addresses,
// as [mcp.servers] configures them (SPEC 10, docs/adr/0011).
//
// What a server says is text of others. Nothing of it is trusted, and everything is bounded:
// the size of a message, the pages, number and size of definitions, the lines of its log, the
// time that each thing may take. A server gets a bare environment and its own secrets alone; no
// secret reaches a log or an error. It is started when it is first needed, in a process group
// that ends with it, and started again with growing pauses when it ends.
//
// A call whose answer did not come, or cannot be read, is an error that does not wrap
// tools.ErrNotStarted: whether the tool ran is not known then. Nothing is repeated here.
package mcpclient
