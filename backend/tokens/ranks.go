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

// lateRanks gives tiktoken the ranks of an encoding empty, and fills them in when it has
// built itself: it would sort them all and turn them round, for decoding, which nothing
// here does, and that takes several times as long as reading them. It also keeps
// tiktoken off the network.
type lateRanks struct {
	data  []byte // lines of a token in base64 and its rank
	ranks map[string]int
}

// LoadTiktokenBpe implements tiktoken.BpeLoader.
func (l *lateRanks) LoadTiktokenBpe(address string) (_ map[string]int, err error) {
	l.data, err = assets.Assets.ReadFile(path.Base(address))
	l.ranks = make(map[string]int, bytes.Count(l.data, []byte{'\n'}))
	return l.ranks, err
}

// loading is held while tiktoken's loader, which is a global, is one encoding's.
var loading sync.Mutex

// embedded is an encoding, from the ranks that are part of this binary.
func embedded(name string) (encoder, error) {
	loading.Lock()
	defer loading.Unlock()
	var late lateRanks
	tiktoken.SetBpeLoader(&late)
	enc, err := tiktoken.GetEncoding(name)
	if err != nil {
		return nil, err
	}
	return enc, late.fill()
}

// fill reads the ranks. All tokens are parts of one string: there are a hundred thousand.
func (l *lateRanks) fill() error {
	type entry struct{ end, rank int }
	entries, tokens := make([]entry, 0, bytes.Count(l.data, []byte{'\n'})+1), l.data[:0] // in place: it shrinks
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
