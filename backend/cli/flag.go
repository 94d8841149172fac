package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flag is a flag of a verb. Its default decides what it takes: a text, a number, a time, a list (the flag may be
// repeated), or nothing (a bool).
type flag struct {
	name   string
	usage  string // the value's name in back quotes, if it is not that of the flag
	value  any
	letter string   // its short form
	least  int      // the smallest number that is accepted
	values []string // the only texts that are accepted, besides the default
	// names says that the value names a file, a folder or something stored. An empty one, for example from an unset
	// shell variable, is refused: the verb would work on something else, such as the session used last.
	names bool
}

func boolFlag(name, usage string) flag { return flag{name: name, usage: usage, value: false} }
func textFlag(name, usage string) flag { return flag{name: name, usage: usage, value: ""} }
func nameFlag(name, usage string) flag { return flag{name: name, usage: usage, value: "", names: true} }
func listFlag(name, usage string) flag { return flag{name: name, usage: usage, value: []string(nil)} }
func nameListFlag(name, usage string) flag {
	return flag{name: name, usage: usage, value: []string(nil), names: true}
}

func numberFlag(name string, least, value int, usage string) flag {
	return flag{name: name, usage: usage, value: value, least: least}
}

func choiceFlag(name, value string, values []string, usage string) flag {
	return flag{name: name, usage: usage, value: value, values: values}
}

// eventsFlag is stored in the call.
const eventsFlag = "events"

// Flags that several verbs have.
var (
	branchFlag  = nameFlag("branch", "the branch, instead of the session's active one")
	yesFlag     = boolFlag("yes", "do not ask")
	replaceFlag = boolFlag("replace", "overwrite an existing file")
)

func (c *call) addFlag(cmd *cobra.Command, f flag) {
	flags := cmd.Flags()
	switch value := f.value.(type) {
	case bool:
		if f.name == eventsFlag { // also errors of usage are events then
			flags.BoolVar(&c.events, f.name, value, f.usage)
			break
		}
		flags.BoolP(f.name, f.letter, value, f.usage)
	case int:
		flags.IntP(f.name, f.letter, value, f.usage)
	case time.Duration:
		flags.DurationP(f.name, f.letter, value, f.usage)
	case []string:
		flags.StringArrayP(f.name, f.letter, value, f.usage)
	case string:
		flags.StringP(f.name, f.letter, value, f.usage)
	default:
		panic(fmt.Sprintf("--%s: a flag cannot take a %T", f.name, value))
	}
	if complete := c.completeFlag(f); complete != nil {
		_ = cmd.RegisterFlagCompletionFunc(f.name, complete) // fails only for a flag that does not exist
	}
}

// check returns an error if the flag has a value that its entry excludes.
func (f flag) check(flags *pflag.FlagSet) error {
	given := flags.Lookup(f.name)
	if !given.Changed {
		return nil
	}
	texts := []string{given.Value.String()}
	if list, ok := given.Value.(pflag.SliceValue); ok {
		texts = list.GetSlice()
	}
	switch {
	case f.names && slices.ContainsFunc(texts, func(s string) bool { return strings.TrimSpace(s) == "" }):
		return usageHint("give it a value, or omit it", "--%s is empty; nothing was done.", f.name)
	case f.values != nil && texts[0] != f.value && !slices.Contains(f.values, texts[0]):
		return usagef("--%s must be one of %s, not %q.", f.name, strings.Join(f.values, ", "), clip(texts[0], 40))
	}
	if _, isNumber := f.value.(int); isNumber && value(flags.GetInt(f.name)) < f.least {
		if f.least == 0 {
			return usagef("--%s must not be negative.", f.name)
		}
		return usagef("--%s must be at least %d.", f.name, f.least)
	}
	return nil
}
