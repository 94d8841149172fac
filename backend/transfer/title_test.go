package transfer

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
)

// TestATitleOfAMegabyteIsCutAndKept: the whole title is kept in the first turn, where it is not displayed.
func TestATitleOfAMegabyteIsCutAndKept(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	c := readOne(t, "conversations.json", fmt.Sprintf(`[{"uuid":"u","name":%q,"project":{"name":%q},"chat_messages":[{"uuid":"q","sender":"human","text":"Hi"}]}]`, long, long))
	checkValid(t, c)
	if c.Title != chat.BoundTitle(long) || c.Folder != c.Title || c.Turns[0].User.RenderedText() != "Hi" {
		t.Fatalf("a title of %d bytes, a folder of %d, %q", len(c.Title), len(c.Folder), c.Turns[0].User.RenderedText())
	}
	kept := 0
	for _, b := range c.Turns[0].User.Blocks {
		if u, ok := b.(chat.Unknown); ok && strings.Contains(string(u.Raw), long) {
			kept++
		}
	}
	short := readOne(t, "conversations.json", `[{"uuid":"u","name":"x","chat_messages":[{"uuid":"q","sender":"human","text":"Hi"}]}]`)
	if kept != 2 || len(c.Notices) != 1 || !reflect.DeepEqual(c.Notices[0], Notice{Text: noticeTitle, Count: 2}) || short.Turns[0].ContentKey != c.Turns[0].ContentKey {
		t.Errorf("%d kept, %+v; the turn differs: %v", kept, c.Notices, short.Turns[0].ContentKey != c.Turns[0].ContentKey)
	}
}
