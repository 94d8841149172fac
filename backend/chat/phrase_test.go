package chat

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// TestAPhraseSurvivesItsJSON: a phrase that was stored or sent reads as before.
func TestAPhraseSurvivesItsJSON(t *testing.T) {
	inner := Errorf(CodeProvider, "x", "The server answered %d.", 500).WithHint("wait %s", "3s")
	for _, c := range []struct {
		phrase     Phrase
		text, json string
	}{
		{Say("Nothing was sent."), "Nothing was sent.", `"Nothing was sent."`},
		{Say("100%% of it"), "100% of it", `"100% of it"`},
		{Quote("5% of <b>"), "5% of <b>", `"5% of <b>"`},
		{Quote(`{"id":"x"}`), `{"id":"x"}`, `"{\"id\":\"x\"}"`},
		{Say("Turn %d of %q", 12345, "a \"b\""), `Turn 12345 of "a \"b\""`, `{"id":"Turn %d of %q","args":[12345,"a \"b\""]}`},
		{Say("%.3f %% of %v", 0.5, CodeBusy), "0.500 % of busy", `{"id":"%.3f %% of %v","args":["0.500","busy"]}`},
		{Say("Not sent: %s.", Say("It is full.")), "Not sent: It is full.", `{"id":"Not sent: %s.","args":[{"id":"It is full."}]}`},
		{Say("No: %s", inner), "No: The server answered 500. (wait 3s)",
			`{"id":"No: %s","args":[{"id":"%s (%s)","args":[{"id":"The server answered %d.","args":[500]},{"id":"wait %s","args":["3s"]}]}]}`},
		{Say("No: %v", errors.New("late")), "No: late", `{"id":"No: %v","args":["late"]}`},
		{Say("%s", inner.Said()), "The server answered 500.", `{"id":"The server answered %d.","args":[500]}`},
		{Say("Not sent: %s.", "is it on?"), "Not sent: is it on?", `{"id":"Not sent: %s.","args":["is it on?"]}`},
		{Phrase{}, "", `""`},
	} {
		if got := c.phrase.String(); got != c.text {
			t.Errorf("it says %q, want %q", got, c.text)
		}
		raw := encode(c.phrase)
		if raw != c.json {
			t.Errorf("%q is encoded as %s, want %s", c.text, raw, c.json)
		}
		var again Phrase
		if err := json.Unmarshal([]byte(raw), &again); err != nil || again != c.phrase {
			t.Errorf("%s is read as %q, %v", raw, again, err)
		}
		if c.phrase.args != "" && Unpack(c.phrase.Packed()) != c.phrase {
			t.Errorf("%q is unpacked as %q", c.phrase.Packed(), Unpack(c.phrase.Packed()))
		}
	}
	if got := Unpack("It failed (%d)."); got.String() != "It failed (%d)." {
		t.Errorf("a text of an earlier version reads %q", got)
	}
}

// TestAChangedMessageLosesItsValues: what an error says is never what it said before.
func TestAChangedMessageLosesItsValues(t *testing.T) {
	e := Errorf(CodeInvalid, "x", "The key %s was refused.", "secret")
	if e.Said() != Say("The key %s was refused.", "secret") {
		t.Errorf("it says %q", e.Said())
	}
	e.Message = "The key [redacted] was refused."
	if e.Said() != Quote(e.Message) {
		t.Errorf("it says %q", e.Said())
	}
}

// TestMapKeepsTheValues: a change of a value leaves the phrase translatable, and one that spans several does not hide
// its result.
func TestMapKeepsTheValues(t *testing.T) {
	hide := func(s string) string { return strings.NewReplacer("hunter2", "***", "a b", "?").Replace(s) }
	for _, c := range [][2]Phrase{
		{Say("No %s.", "hunter2"), Say("No %s.", "***")},
		{Say("No: %s", Say("key %s of %d", "hunter2", 7)), Say("No: %s", Say("key %s of %d", "***", 7))},
		{Say("%s %s", "a", "b"), Quote("?")},
		{Say("No %s.", "x"), Say("No %s.", "x")},
	} {
		if got := c[0].Map(hide); got != c[1] {
			t.Errorf("%#v becomes %#v, want %#v", c[0], got, c[1])
		}
	}
}
