// Package mcpsetup configures MCP servers for the window and the command line: it edits
// [mcp.servers], keeps their secrets in the keyring, and reads the configurations of other
// programs and bundles (.mcpb). What it reads is text of others: it is shown before anything
// is added, and nothing of it is started here.
package mcpsetup
