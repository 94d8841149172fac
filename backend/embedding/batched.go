package embedding

import (
	"context"
	"unicode/utf8"

	"contextinfinity/backend/chat"
)

// Limits are the limits of one request to an embedder.
type Limits struct {
	Texts   int // texts per request
	Bytes   int // of all texts of a request together
	PerText int // bytes per text: the rest is cut off
}

// RemoteLimits returns limits that are well within those of OpenAI (2048 texts and 300 000 tokens per request). They are
// lower for another server, which may run on the user's own processor and should respond in time.
func RemoteLimits(id chat.EmbedderID) Limits {
	l := Limits{Texts: 64, Bytes: 256_000, PerText: KnownModel(id.Model).MaxBytes}
	if id.Name != "openai" {
		l.Texts = 16
	}
	return l
}

// minCut is the length in bytes up to which a text that is refused as too long is not cut any further.
const minCut = 64

// Batched sends texts in requests within the limits. A text too long for the model is cut between characters: its
// vector then represents its beginning, while the text index finds all of its words. Empty texts are sent as one
// space.
func Batched(e Embedder, l Limits) Embedder { return batched{e, l} }

type batched struct {
	Embedder
	limits Limits
}

func (b batched) Embed(ctx context.Context, kind Kind, texts []string) ([][]float32, error) {
	out := make([][]float32, 0, len(texts))
	cutTexts := make([]string, len(texts))
	for i, s := range texts {
		cutTexts[i] = Cut(s, b.limits.PerText)
		if cutTexts[i] == "" {
			cutTexts[i] = " "
		}
	}
	for rest := cutTexts; len(rest) > 0; {
		n := b.batchSize(rest)
		vectors, err := b.send(ctx, kind, rest[:n])
		if err != nil {
			return nil, err
		}
		out, rest = append(out, vectors...), rest[n:]
	}
	return out, nil
}

// batchSize returns how many of the texts go into the next request, at least one.
func (b batched) batchSize(texts []string) int {
	bytes := 0
	for i, s := range texts {
		bytes += len(s)
		if i > 0 && (i == b.limits.Texts || bytes > b.limits.Bytes) {
			return i
		}
	}
	return len(texts)
}

// send sends one request. If it is too large for the model, or the model refuses one of its texts, it is split in
// halves, and a single text that is too large is cut in half: token counts cannot be known for every model.
func (b batched) send(ctx context.Context, kind Kind, texts []string) ([][]float32, error) {
	vectors, err := b.Embedder.Embed(ctx, kind, texts)
	if err == nil {
		return vectors, nil
	}
	switch chat.CodeOf(err) {
	case chat.CodeTooLarge:
		if len(texts) == 1 {
			if len(texts[0]) <= minCut {
				return nil, err
			}
			return b.send(ctx, kind, []string{Cut(texts[0], len(texts[0])/2)})
		}
	case chat.CodeProvider, chat.CodeUnavailable:
		blank, fault := b.refusal(ctx, kind, err)
		if fault != nil || len(texts) == 1 {
			return blank, fault
		}
	default:
		return nil, err
	}
	half := len(texts) / 2
	first, err := b.send(ctx, kind, texts[:half])
	if err != nil {
		return nil, err
	}
	second, err := b.send(ctx, kind, texts[half:])
	return append(first, second...), err
}

// refusal distinguishes a text for which the model gives no vector (some models return NaN, some servers an error) from
// a server that does not work at all, which fails for a blank too. A refused passage gets the vector of the blank and is
// found by its words; without a vector it would block all passages after it. A question gets no such replacement.
func (b batched) refusal(ctx context.Context, kind Kind, err error) ([][]float32, error) {
	if kind != Passage || ctx.Err() != nil {
		return nil, err
	}
	blank, fault := b.Embedder.Embed(ctx, kind, []string{" "})
	if fault != nil {
		return nil, err
	}
	return blank, nil
}

// Cut returns s up to the last character that ends within limit bytes. Invalid UTF-8 is kept. 0 means no limit.
func Cut(s string, limit int) string {
	if limit <= 0 || len(s) <= limit {
		return s
	}
	for at := limit; at > 0 && limit-at < utf8.UTFMax; at-- {
		if utf8.RuneStart(s[at]) {
			return s[:at]
		}
	}
	return s[:limit]
}
