package tokens

import (
	"bytes"
	"encoding/base64"
	"path"
	"strconv"
	"sync"

	"github.com/pkoukk/tiktoken-go"
	"github.com/pkoukk/tiktoken-go-loader/assets"
)

// lateRanks gives tiktoken an empty map of ranks, and fills it after tiktoken has been built. With a full map,
// tiktoken would sort and invert it for decoding, which is not used here and takes several times as long as reading
// it. It also keeps tiktoken off the network.
type lateRanks struct {
	data  []byte // lines with a token in base64 and its rank
	ranks map[string]int
}

// LoadTiktokenBpe implements tiktoken.BpeLoader.
func (l *lateRanks) LoadTiktokenBpe(address string) (_ map[string]int, err error) {
	l.data, err = assets.Assets.ReadFile(path.Base(address))
	l.ranks = make(map[string]int, bytes.Count(l.data, []byte{'\n'}))
	return l.ranks, err
}

// loaderMu guards tiktoken's loader, which is a global variable.
var loaderMu sync.Mutex

// embedded builds an encoding from the ranks in the binary.
func embedded(name string) (encoder, error) {
	loaderMu.Lock()
	defer loaderMu.Unlock()
	var late lateRanks
	tiktoken.SetBpeLoader(&late)
	enc, err := tiktoken.GetEncoding(name)
	if err != nil {
		return nil, err
	}
	return enc, late.fill()
}

// fill reads the ranks. All tokens are substrings of one string, because there are a hundred thousand of them.
func (l *lateRanks) fill() error {
	type entry struct{ end, rank int }
	entries, tokens := make([]entry, 0, bytes.Count(l.data, []byte{'\n'})+1), l.data[:0] // decoded in place, because the result is shorter
	for line := range bytes.Lines(l.data) {
		token, digits, _ := bytes.Cut(bytes.TrimSpace(line), []byte{' '})
		rank, err := strconv.Atoi(string(digits))
		if err != nil {
			return err
		}
		if tokens, err = base64.StdEncoding.AppendDecode(tokens, token); err != nil {
			return err
		}
		entries = append(entries, entry{len(tokens), rank})
	}
	all, from := string(tokens), 0
	for _, e := range entries {
		l.ranks[all[from:e.end]], from = e.rank, e.end
	}
	return nil
}
