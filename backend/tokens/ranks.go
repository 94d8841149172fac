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

// fill reads the ranks.
func (l *lateRanks) fill() error {
	for line := range bytes.Lines(l.data) {
		token, rank, _ := bytes.Cut(bytes.TrimSpace(line), []byte{' '})
		n, err := base64.StdEncoding.Decode(token, token) // in place: it shrinks
		if err != nil {
			return err
		}
		if l.ranks[string(token[:n])], err = strconv.Atoi(string(rank)); err != nil {
			return err
		}
	}
	return nil
}
