package harness

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// ForeignExport writes an export of ChatGPT with a long conversation, in which every 30th answer was regenerated, and
// a short one.
func ForeignExport(t *testing.T, dir string, turns int) string {
	t.Helper()
	var b strings.Builder
	node := func(id, parent, role, text string) {
		fmt.Fprintf(&b, `,%q:{"id":%q,"parent":%q,"message":{"id":%q,"author":{"role":%q},"create_time":1700000000,"content":{"content_type":"text","parts":[%q]}}}`,
			id, id, parent, id, role, text)
	}
	b.WriteString(`[{"id":"long","title":"Long","create_time":1700000000,"current_node":"` + fmt.Sprintf("a%d", turns-1) + `","mapping":{"r":{"id":"r","parent":null,"message":null}`)
	previous := "r"
	for i := range turns {
		q, a := fmt.Sprintf("q%d", i), fmt.Sprintf("a%d", i)
		node(q, previous, "user", "question "+q)
		node(a, q, "assistant", "answer "+a)
		if i%30 == 29 {
			node("o"+a, q, "assistant", "other answer "+a)
		}
		previous = a
	}
	b.WriteString("}},\n" + `{"id":"short","title":"Short","create_time":1700000000,"current_node":"a","mapping":{"r":{"id":"r","parent":null,"message":null}`)
	node("q", "r", "user", "a short question")
	node("a", "q", "assistant", "a short answer")
	b.WriteString("}}]")
	path := filepath.Join(dir, "conversations.json")
	WriteFile(t, path, []byte(b.String()))
	return path
}

// FirstVersion unpacks the stored database of the first version.
func FirstVersion(t testing.TB, target string) {
	t.Helper()
	packed, err := os.Open(InModule("backend", "store", "testdata", "v1.db.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	z, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	WriteFile(t, target, data)
}
