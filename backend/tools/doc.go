// Package tools is the contract between a turn and the tools that a model may call, and
// the policy by which they may run (SPEC 10, SRD 12).
//
// A Source offers tools and runs them: the built-in ones, and one for each MCP server. The
// turn journals a call before it reaches a source, and its result after; a source journals
// nothing.
package tools
