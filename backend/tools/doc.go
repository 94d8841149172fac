// Package tools defines the interface between a turn and the tools that a model may call, and the policy for running
// them (SPEC 10, SRD 12).
//
// A Source offers tools and runs them: the built-in ones, and one for each MCP server. The turn journals a call
// before it is passed to a source, and its result afterwards; a source journals nothing.
package tools
