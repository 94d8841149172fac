// Package openai turns text into vectors through OpenAI's /embeddings, or any compatible server (SPEC 8).
//
// It sends a request once; embedding.Retried does the retries. It does not read the environment: a key or an address
// can only come from Options. No error contains a key.
package openai

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"net/http"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/embedding"
	"contextinfinity/backend/embedding/internal/remote"
	"contextinfinity/backend/internal/wire"
	"contextinfinity/backend/llm"
)

// Name is the adapter's name in an identity and in retrieval.embedder.
const Name = "openai"

// Options name the server and the model.
type Options struct {
	Client  *http.Client // nil: a suitable default
	BaseURL string       // empty: OpenAI's own
	Key     llm.Secret
	// AllowPlainHTTP allows sending the key to another machine over plain http.
	AllowPlainHTTP bool
	Model          string
	// Dimension of the vectors; 0: the model's own. Ask requests it from the server, which OpenAI's third generation
	// of models supports.
	Dimension int
	Ask       bool
}

// Embedder implements embedding.Embedder.
type Embedder struct {
	o      Options
	server wire.Server
	known  embedding.Model
	id     chat.EmbedderID
}

// New creates the embedder. The dimension of an unknown model is found by embedding one word.
func New(ctx context.Context, o Options) (*Embedder, error) {
	server, err := wire.OpenAI(wire.Client(o.Client), llm.Endpoint{BaseURL: o.BaseURL, Key: o.Key, AllowPlainHTTP: o.AllowPlainHTTP})
	if err != nil {
		return nil, remote.Failure(Name, err)
	}
	e := &Embedder{o: o, server: server, known: embedding.KnownModel(o.Model)}
	e.id = chat.EmbedderID{Name: Name, Model: o.Model, Dimension: o.Dimension, Version: e.known.Version}
	e.id.Dimension = cmp.Or(e.id.Dimension, e.known.Dimension)
	if e.id.Dimension == 0 {
		e.id.Dimension, err = remote.Probe(ctx, e)
	}
	return e, err
}

// Identity implements embedding.Embedder.
func (e *Embedder) Identity() chat.EmbedderID { return e.id }

type request struct {
	Model      string   `json:"model"`
	Input      []string `json:"input"`
	Dimensions int      `json:"dimensions,omitempty"`
	Encoding   string   `json:"encoding_format,omitempty"`
}

// Embed implements embedding.Embedder.
func (e *Embedder) Embed(ctx context.Context, kind embedding.Kind, texts []string) ([][]float32, error) {
	r := request{Model: e.o.Model, Input: e.known.Prefixed(kind, texts)}
	if e.o.Ask {
		r.Dimensions = e.o.Dimension
	}
	if e.server.IsVendor() {
		r.Encoding = "base64" // a third of the bytes; other servers may not support it
	}
	body, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	data, err := e.server.Post(ctx, "/embeddings", body, remote.MaxAnswer)
	if err != nil {
		return nil, remote.Failure(Name, err)
	}
	vectors, err := read(data, len(texts))
	if err != nil {
		return nil, remote.Failure(Name, &llm.Error{Code: chat.CodeProvider, Message: err.Error()})
	}
	return vectors, nil
}

// read returns the vectors in the order of the texts, each a list of numbers or base64 of little-endian float32.
func read(data []byte, n int) ([][]float32, error) {
	var answer struct {
		Data []struct {
			Index     int             `json:"index"`
			Embedding json.RawMessage `json:"embedding"`
		} `json:"data"`
	}
	if json.Unmarshal(data, &answer) != nil {
		return nil, errors.New("the answer could not be read; check the address")
	}
	if len(answer.Data) != n {
		return nil, errors.New("the answer does not contain one vector for each text")
	}
	out := make([][]float32, n)
	for _, d := range answer.Data {
		v, err := vector(d.Embedding)
		if err != nil {
			return nil, err
		}
		if d.Index < 0 || d.Index >= n || out[d.Index] != nil {
			return nil, errors.New("the answer does not assign its vectors to the texts")
		}
		out[d.Index] = v
	}
	return out, nil
}

func vector(raw json.RawMessage) ([]float32, error) {
	errUnread := errors.New("a vector of the answer could not be read")
	v := []float32{} // not nil: an empty vector is refused as such
	if len(raw) == 0 || raw[0] != '"' {
		if json.Unmarshal(raw, &v) != nil || v == nil {
			return nil, errUnread
		}
		return v, nil
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return nil, errUnread
	}
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(data)%4 != 0 {
		return nil, errUnread
	}
	for ; len(data) > 0; data = data[4:] {
		v = append(v, math.Float32frombits(binary.LittleEndian.Uint32(data)))
	}
	return v, nil
}
