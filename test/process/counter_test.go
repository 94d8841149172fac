package process

import (
	"context"
	"fmt"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// counterFile is the environment variable that turns this program into a tool server. Its only tool has a countable
// effect: it appends a line to the file named by the variable, and fsyncs before it responds.
const counterFile = "CONTEXTINFINITY_TEST_COUNTER"

type countArguments struct {
	Word string `json:"word" jsonschema:"the word to write"`
}

func serveCounter(path string) int {
	s := mcp.NewServer(&mcp.Implementation{Name: "counter", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "count", Description: "Writes a word into a file."},
		func(_ context.Context, _ *mcp.CallToolRequest, a countArguments) (*mcp.CallToolResult, any, error) {
			if err := countIn(path, a.Word); err != nil {
				return nil, nil, err
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "wrote " + a.Word}}}, nil, nil
		})
	if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func countIn(path, word string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err = fmt.Fprintln(f, word); err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}
