package ledger

import (
	"bytes"
	"encoding/json"
	"testing"
)

// TestDataOf: a payload's data is the same whether it is read in place or decoded.
func TestDataOf(t *testing.T) {
	canonical, err := Payload(map[string]any{"a": []int{1}, "b": "}"})
	if err != nil {
		t.Fatal(err)
	}
	for _, payload := range []string{
		string(canonical), `{"v":1,"data":null}`, ` {"data":{"a":1},"v":1}`, `{"v":1,"data":{},"more":1}`, `{"v":1,"data":1,"data":{}}`,
		`{"v":1,"data":}`, `{"v":1,"data":{}`, `{"v":1,"data":{}}}`, `{"v":2,"data":{}}`, ``,
	} {
		var want envelope[json.RawMessage]
		err := json.Unmarshal([]byte(payload), &want)
		ok := err == nil && want.Version == PayloadVersion
		got, err := dataOf([]byte(payload))
		if (err == nil) != ok || ok && !bytes.Equal(got, want.Data) {
			t.Errorf("%s has the data %s (%v), want %s", payload, got, err, want.Data)
		}
	}
	if data, err := dataOf(canonical); err != nil || &data[0] != &canonical[len(canonicalStart)] {
		t.Errorf("the data is copied (%v)", err)
	}
}
