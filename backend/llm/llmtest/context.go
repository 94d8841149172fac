package llmtest

import (
	"cmp"
	"reflect"
	"testing"
	"unsafe"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/prompt"
)

// Context describes a prepared context, see Prepare.
type Context struct {
	System    []string
	Messages  []chat.Message
	Stable    int
	MaxOutput int // 0 is 1024
	Tools     []chat.ToolDefinition
	Cycle     int // the number of Messages, from the last, that are steps of the current turn
}

// Prepare creates a prepared context without the assembler, so that an adapter's golden files do not depend on the
// assembler's texts. In the program only the assembler can create one: the fields are unexported, and this sets them
// by reflection, which fails loudly when they change.
func Prepare(t testing.TB, c Context) prompt.PreparedContext {
	t.Helper()
	c.MaxOutput = cmp.Or(c.MaxOutput, 1024)
	var p prompt.PreparedContext
	v := reflect.ValueOf(&p).Elem()
	set := func(name string, value any) {
		f := v.FieldByName(name)
		if !f.IsValid() || f.Type() != reflect.TypeOf(value) {
			t.Fatalf("llmtest: prompt.PreparedContext has no field %s of type %T", name, value)
		}
		reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem().Set(reflect.ValueOf(value))
	}
	set("ok", true)
	set("system", c.System)
	set("messages", c.Messages)
	set("stable", c.Stable)
	set("maxOutput", c.MaxOutput)
	set("tools", c.Tools)
	set("cycle", c.Cycle)
	return p
}

// Ask returns a context with one question.
func Ask(t testing.TB, question string) prompt.PreparedContext {
	t.Helper()
	return Prepare(t, Context{System: []string{"Be brief."}, Messages: []chat.Message{chat.UserText(question)}})
}
