// breaks: mcp sdk

package turn

import (
	_ "github.com/modelcontextprotocol/go-sdk/mcp"
)
