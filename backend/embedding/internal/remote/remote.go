// Package remote is shared by the embedders that use a server: error messages, and finding a model's dimension.
package remote

import (
	"context"
	"errors"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/embedding"
	"contextinfinity/backend/llm"
)

// MaxAnswer limits how much of a response is read, in bytes: 64 vectors of 4096 dimensions as text are about 6 MB.
const MaxAnswer = 64 << 20

// Failure converts a classified failure to an error for people; a temporary one is an embedding.Retry.
// Its text is redacted already.
func Failure(name string, err error) error {
	var e *llm.Error
	if !errors.As(err, &e) {
		return err
	}
	out := chat.WrapError(e.Code, "embedding."+name, e, "The embedding model could not be used: %s.", e)
	switch e.Code {
	case chat.CodeAuth:
		out = out.WithHint("save the key in Settings, or set retrieval.embedder to local")
	case chat.CodeTooLarge, chat.CodeCancelled:
	case chat.CodeConfig:
		out = out.WithHint("check retrieval.embedding_base_url")
	default:
		out = out.WithHint("nothing is lost: words are still searched, and vectors are made once it responds")
	}
	if e.Retry {
		return &embedding.Retry{Err: out, After: e.RetryAfter}
	}
	return out
}

// Probe finds the dimension of a model by embedding one word.
func Probe(ctx context.Context, e embedding.Embedder) (int, error) {
	vectors, err := e.Embed(ctx, embedding.Passage, []string{"dimension"})
	if err != nil {
		if again, ok := errors.AsType[*embedding.Retry](err); ok {
			return 0, again.Err
		}
		return 0, err
	}
	if len(vectors) != 1 || len(vectors[0]) == 0 {
		return 0, chat.Errorf(chat.CodeProvider, "embedding.probe", "The embedding model %q answered without a vector.", e.Identity().Model).
			WithHint("check retrieval.embedding_model")
	}
	return len(vectors[0]), nil
}
