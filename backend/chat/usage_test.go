package chat

import "testing"

func TestUsageChecked(t *testing.T) {
	ok := Usage{InputTokens: 90, OutputTokens: 10, CachedInputTokens: 80}
	if got := ok.Checked(100); *got != ok {
		t.Errorf("%+v", got)
	}
	var none *Usage
	if none.Checked(1) != nil {
		t.Error("a nil usage became a value")
	}
	for _, u := range []Usage{{InputTokens: 101}, {OutputTokens: -1}, {CacheWriteTokens: 101}, {ReasoningTokens: -9}, {InputTokens: 10, CachedInputTokens: 11}, {InputTokens: NoCount + 50}} {
		got := u.Checked(100)
		if got.DroppedBecause == "" || *got != (Usage{DroppedBecause: got.DroppedBecause, DroppedWords: got.DroppedWords}) {
			t.Errorf("%+v became %+v", u, got)
		}
		if sum := ok.Add(*got); sum.InputTokens != 90 || sum.DroppedBecause != got.DroppedBecause {
			t.Errorf("in a sum: %+v", sum)
		}
	}
	if huge := (&Usage{OutputTokens: maxPlausible + 1}).Checked(0); huge.DroppedBecause == "" {
		t.Error("without a window any count is believed")
	}
}
