package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm"
)

// maxToolName is the maximum length of names and ids of tool calls: providers accept ^[a-zA-Z0-9_-]{1,64}$. Other
// programs, whose conversations are imported, have no such limit ("canmore.create_textdoc").
const maxToolName = 64

func plainByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_' || b == '-'
}

func acceptable(name string) bool {
	if name == "" || len(name) > maxToolName {
		return false
	}
	for i := range len(name) {
		if !plainByte(name[i]) {
			return false
		}
	}
	return true
}

// toolEscape precedes two hexadecimal digits for a byte that providers refuse in a name.
const toolEscape = "--x"

// ToolName returns the name under which a tool is sent: its own if providers accept it, otherwise with the other bytes
// escaped, so that OriginalToolName can restore it. A name that would be too long is cut, and ends with a digest.
func ToolName(name string) string {
	if acceptable(name) {
		return name
	}
	var b strings.Builder
	for i := range len(name) {
		if plainByte(name[i]) {
			b.WriteByte(name[i])
			continue
		}
		b.WriteString(toolEscape + strings.ToUpper(hex.EncodeToString([]byte{name[i]})))
	}
	if escaped := b.String(); acceptable(escaped) {
		return escaped
	}
	return digestName(name)
}

// digestName returns a shortened name, unique to its tool.
func digestName(name string) string {
	var b strings.Builder
	for i := 0; i < len(name) && b.Len() < maxToolName-18; i++ {
		if plainByte(name[i]) {
			b.WriteByte(name[i])
		} else {
			b.WriteByte('_')
		}
	}
	sum := sha256.Sum256([]byte(name))
	return b.String() + "--" + hex.EncodeToString(sum[:8])
}

// OriginalToolName undoes ToolName: the model calls a tool by the name that was sent, the transcript shows the
// original. Any other name is returned unchanged.
func OriginalToolName(sent string) string {
	if !strings.Contains(sent, toolEscape) {
		return sent
	}
	var b strings.Builder
	for rest := sent; rest != ""; {
		if code, ok := strings.CutPrefix(rest, toolEscape); ok && len(code) >= 2 {
			if raw, err := hex.DecodeString(code[:2]); err == nil {
				b.WriteByte(raw[0])
				rest = code[2:]
				continue
			}
		}
		b.WriteByte(rest[0])
		rest = rest[1:]
	}
	if name := b.String(); utf8.ValidString(name) && ToolName(name) == sent {
		return name
	}
	return sent
}

// definedTools returns the names of the tools that the request defines: those it offers, and those in the model's
// options.
func definedTools(r llm.Request) map[string]string {
	var tools []struct {
		Name     string
		Function struct{ Name string }
	}
	taken := map[string]string{}
	for _, d := range Definitions(r) {
		taken[d.Name] = d.Name
	}
	raw, err := json.Marshal(r.Endpoint.Options["tools"])
	if err != nil || json.Unmarshal(raw, &tools) != nil {
		return taken
	}
	for _, t := range tools {
		for _, name := range []string{t.Name, t.Function.Name} {
			if name != "" {
				taken[name] = name
			}
		}
	}
	return taken
}

// nameCalls gives every call a valid name, a valid id that no other call of the conversation has, and its result the
// same id. taken maps names in use to what they name.
func nameCalls(groups []Group, taken map[string]string, ids IDRule) {
	used := map[string]bool{}
	for _, g := range groups {
		for _, b := range g.Blocks {
			if use, ok := b.(chat.ToolUse); ok && acceptable(use.Name) {
				taken[use.Name] = use.Name // a valid name is kept
			}
		}
	}
	calls := 0
	for i, g := range groups {
		renamed := map[string]string{}
		for k, b := range g.Blocks {
			use, ok := b.(chat.ToolUse)
			if !ok {
				continue
			}
			calls++
			use.Name = freeName(use.Name, taken)
			id := use.ToolUseID
			if !ids.keeps(use, g.Cycle) || used[id] {
				id = ""
			}
			for n := calls; id == "" || used[id]; n++ {
				id = ids.replacement(n)
			}
			groups[i].Renamed = groups[i].Renamed || id != use.ToolUseID
			used[id], renamed[use.ToolUseID] = true, id
			use.ToolUseID = id
			g.Blocks[k] = use
		}
		if i+1 == len(groups) {
			return
		}
		for k, b := range groups[i+1].Blocks {
			if res, ok := b.(chat.ToolResult); ok && renamed[res.ToolUseID] != "" {
				res.ToolUseID = renamed[res.ToolUseID]
				groups[i+1].Blocks[k] = res
			}
		}
	}
}

// IDRule says which ids of calls a provider accepts.
type IDRule int

const (
	// PlainIDs are 1 to 64 letters, digits, "_" and "-".
	PlainIDs IDRule = iota
	// ShortIDs are nine letters and digits: Mistral accepts only these, and all other servers of the protocol accept
	// them too.
	ShortIDs
)

const shortID = 9

// keeps reports whether a call can be sent with its own id. While its turn runs, a call keeps the id from its server,
// because some models (Kimi's) read their ids.
func (r IDRule) keeps(use chat.ToolUse, cycle bool) bool {
	id := use.ToolUseID
	if r == PlainIDs {
		return acceptable(id)
	}
	if cycle {
		return acceptable(id) || id != "" && use.Provider != "" // the protocol's own id
	}
	return len(id) == shortID && !strings.ContainsAny(id, "-_") && acceptable(id)
}

// replacement returns the nth replacement id.
func (r IDRule) replacement(n int) string {
	if r == ShortIDs {
		return fmt.Sprintf("call%05d", n)
	}
	return "call-" + strconv.Itoa(n)
}

func freeName(name string, taken map[string]string) string {
	sent := ToolName(name)
	if owner, used := taken[sent]; used && owner != name {
		sent = digestName(name)
	}
	taken[sent] = name
	return sent
}

// noCall is the name of the call before a result whose call is unknown, as in imported conversations, so that the
// result stays a tool's and is not taken for the user's or the model's text.
const noCall = "call_not_recorded"

// withCalls adds a call before every result that answers none of the previous group. Results that answer one come
// first in their group, as providers require.
func withCalls(groups []Group) []sidedBlock {
	var out []sidedBlock
	for i, g := range groups {
		blocks := flatten([]Group{g})
		if g.Role != chat.RoleUser {
			out = append(out, blocks...)
			continue
		}
		open := map[string]bool{}
		if i > 0 {
			open = callIDs(groups[i-1].Blocks)
		}
		var answers, rest []sidedBlock
		for _, s := range blocks {
			if res, ok := s.block.(chat.ToolResult); ok && open[res.ToolUseID] {
				delete(open, res.ToolUseID)
				answers = append(answers, s)
			} else {
				rest = append(rest, s)
			}
		}
		out = append(append(out, answers...), addCalls(rest, i == 0, len(out))...)
	}
	return out
}

// addCalls adds calls before the results in a user group. A conversation cannot begin with a call; there the result is
// turned into text.
func addCalls(blocks []sidedBlock, first bool, n int) []sidedBlock {
	out := make([]sidedBlock, 0, len(blocks))
	for k := 0; k < len(blocks); {
		run := k
		for run < len(blocks) && isResult(blocks[run]) {
			run++
		}
		if run == k {
			out = append(out, blocks[k])
			k++
			continue
		}
		var results []sidedBlock
		for ; k < run; k++ {
			s := blocks[k]
			res, _ := s.block.(chat.ToolResult)
			if first && len(out) == 0 {
				s.block = chat.Text{Text: "[Tool result: " + res.Content.RenderedText() + "]\n\n"}
				results = append(results, s)
				continue
			}
			res.ToolUseID = noCall + "-" + strconv.Itoa(n+k)
			out = append(out, sidedBlock{role: chat.RoleAssistant, stable: s.stable, held: s.held, cycle: s.cycle, block: chat.ToolUse{
				ToolUseID: res.ToolUseID, Name: noCall, Input: json.RawMessage("{}"),
			}})
			s.block = res
			results = append(results, s)
		}
		out = append(out, results...)
	}
	return out
}

func isResult(s sidedBlock) bool {
	_, ok := s.block.(chat.ToolResult)
	return ok
}

func callIDs(blocks chat.Blocks) map[string]bool {
	ids := map[string]bool{}
	for _, b := range blocks {
		if use, ok := b.(chat.ToolUse); ok {
			ids[use.ToolUseID] = true
		}
	}
	return ids
}
