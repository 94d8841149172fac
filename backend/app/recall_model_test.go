package app

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
)

// wordVectors are word vectors that others trained. The mean of those of a text, rare words first, is the simplest model of
// meaning in use. Its texts are all alike: the mean of two passages of one conversation has a cosine of 0.5.
type wordVectors map[string][]float32

func readWordVectors(t *testing.T) wordVectors {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(recallDir, "word-vectors.txt"))
	if err != nil {
		t.Fatal(err)
	}
	vectors := wordVectors{}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		var word, packed string
		var rank, largest float64
		if n, _ := fmt.Sscan(lines.Text(), &word, &rank, &largest, &packed); n < 4 || word == "#" {
			continue
		}
		components, err := base64.StdEncoding.DecodeString(packed)
		if err != nil || len(components) != 100 {
			t.Fatalf("%q: %d components, %v", word, len(components), err)
		}
		v := make([]float32, len(components))
		for i, c := range components {
			// The frequency of a word is about 0.1 / rank; smooth inverse frequency weighs it by a / (a + frequency).
			v[i] = float32(float64(int8(c)) * largest / (1 + 1000/(rank+2)))
		}
		vectors[word] = v
	}
	return vectors
}

func (m wordVectors) embed(text string) []float32 {
	sum := make([]float32, 100)
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) }) {
		for i, c := range m[word] {
			sum[i] += c
		}
	}
	sum[0] += 1e-6 // a text without a known word has a direction too, as with every server
	return sum
}

// serve starts a server that speaks the protocol of OpenAI's embeddings, and returns the configuration that uses it.
func (m wordVectors) serve(t *testing.T) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		var data []map[string]any
		for i, text := range in.Input {
			data = append(data, map[string]any{"index": i, "embedding": m.embed(text)})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": data})
	}))
	t.Cleanup(s.Close)
	return "[retrieval]\nembedder = \"openai\"\nembedding_model = \"glove\"\nembedding_base_url = \"" + s.URL + "\"\n"
}

// A configured model finds what words do not: twenty facts, asked for later in words of which none is in them. The vectors are
// those of a real model, trained by others, whose cosines are all high.
func TestAConfiguredModelFindsOtherWords(t *testing.T) {
	t.Parallel()
	vectors := readWordVectors(t)
	c := importFile(t, "meant", writeContinued(t, "meant", 1, "working"), vectors.serve(t))
	words, wordsFirst := c.found(0, 1500)
	both, bothFirst := c.found(c.Memory.Settings().VectorWeight, 1500)
	t.Logf("%d questions: packed %d, first or second %d; by words alone %d and %d", len(c.questions), both, bothFirst, words, wordsFirst)
	if both < 17 || bothFirst < 15 || words > 4 {
		t.Error("the model does not add what it can")
	}
}
