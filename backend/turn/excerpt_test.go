package turn

import (
	"fmt"
	"strings"
	"testing"
)

// A pasted text has more words than a document is looked through for: the longest are
// taken, from its beginning and its end.
func TestWhatADocumentIsLookedThroughFor(t *testing.T) {
	var b strings.Builder
	b.WriteString("Alexandria's lighthouse ")
	for i := range 5000 {
		fmt.Fprintf(&b, "w%d ", i)
	}
	b.WriteString("and the mausoleum")
	got := telling(b.String())
	if len(got) != maxTerms || got[0] != "alexandria" || got[1] != "lighthouse" || got[2] != "mausoleum" {
		t.Errorf("%d terms: %q", len(got), got[:min(len(got), 4)])
	}
}
