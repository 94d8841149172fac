package chat_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"contextinfinity/backend/chat"
)

func TestCheckOf(t *testing.T) {
	none := []string{}
	cases := map[string]struct {
		origin chat.StateOrigin
		raw    string
		want   chat.StateCheck
	}{
		"passed":          {chat.StateLibrarian, `{"tries":1}`, chat.StateCheck{Result: chat.CheckPassed, Tries: 1, Missing: none, Added: none}},
		"second try":      {chat.StateLibrarian, `{"tries":2,"reason":"it is empty"}`, chat.StateCheck{Result: chat.CheckPassed, Tries: 2, Reason: "it is empty", Missing: none, Added: none}},
		"repaired":        {chat.StateLibrarian, `{"tries":1,"missing":["a","b"],"added":["a"]}`, chat.StateCheck{Result: chat.CheckRepaired, Tries: 1, Missing: []string{"a", "b"}, Added: []string{"a"}}},
		"failed":          {chat.StateFallback, `{"tries":2,"reason":"it declines"}`, chat.StateCheck{Result: chat.CheckFailed, Tries: 2, Reason: "it declines", Missing: none, Added: none}},
		"no model":        {chat.StateFallback, `{"method":"fallback"}`, chat.StateCheck{Missing: none, Added: none}},
		"root":            {chat.StateRoot, ``, chat.StateCheck{Missing: none, Added: none}},
		"not JSON":        {chat.StateLibrarian, `{`, chat.StateCheck{Result: chat.CheckPassed, Missing: none, Added: none}},
		"another version": {chat.StateLibrarian, `{"missing":7,"tries":1}`, chat.StateCheck{Result: chat.CheckPassed, Missing: none, Added: none}},
	}
	for name, c := range cases {
		if got := chat.CheckOf(c.origin, json.RawMessage(c.raw)); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
