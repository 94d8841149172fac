package crash

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"
)

// counterFile is the environment variable that turns this command into a tool server over stdio. Its only tool has a
// countable effect: it appends a word to the file named by the variable, and fsyncs before it responds. A call waits for
// a moment before and after that, so that it can be killed there.
const counterFile = "CONTEXTINFINITY_CRASH_COUNTER"

// begunFile exists while a call is running.
func begunFile(path string) string { return path + ".begun" }

// callPause is how long a call waits before the effect, and again after it.
const callPause = 15 * time.Millisecond

// serveCounter implements the part of MCP that a client needs to call one tool.
func serveCounter(path string) int {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct {
				ProtocolVersion string `json:"protocolVersion"`
				Arguments       struct{ Word string }
			}
		}
		if json.Unmarshal(in.Bytes(), &m) != nil || len(m.ID) == 0 {
			continue // a notification
		}
		result, failed := "", ""
		switch m.Method {
		case "initialize":
			result = fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":"counter","version":"1"}}`, m.Params.ProtocolVersion)
		case "ping":
			result = `{}`
		case "tools/list":
			result = `{"tools":[{"name":"count","description":"Writes a word into a file.","inputSchema":{"type":"object","properties":{"word":{"type":"string"}},"required":["word"]}}]}`
		case "tools/call":
			if err := countWord(path, m.Params.Arguments.Word); err != nil {
				failed = `{"code":-32603,"message":"the word could not be counted"}`
			}
			result = `{"content":[{"type":"text","text":"wrote it"}]}`
		default:
			failed = `{"code":-32601,"message":"no such method"}`
		}
		if failed != "" {
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":%s}`+"\n", m.ID, failed)
		} else {
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, result)
		}
	}
	return 0
}

func countWord(path, word string) error {
	if err := os.WriteFile(begunFile(path), nil, 0o600); err != nil {
		return err
	}
	time.Sleep(callPause)
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
	time.Sleep(callPause)
	return err
}

// countedWords returns how often each word was written.
func countedWords(path string) (map[string]int, error) {
	data, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	words := map[string]int{}
	for word := range strings.FieldsSeq(string(data)) {
		words[word]++
	}
	return words, nil
}
