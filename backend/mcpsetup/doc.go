// Package mcpsetup configures MCP servers for the window and the command line: it edits [mcp.servers], keeps the
// servers' secrets in the keyring, and reads bundles (.mcpb) and the configurations of other programs. These come
// from third parties, so everything is shown before anything is added, and this package never starts any of it.
package mcpsetup
