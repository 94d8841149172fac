package embedding

import (
	"cmp"
	"contextinfinity/backend/internal/lists"
	"strings"
)

// Model is what is known about a model by its name.
type Model struct {
	Dimension int // default dimension of its vectors; 0: unknown, ask the server once
	// Query and Passage are prefixes for texts, as used in the model's training.
	Query, Passage string
	// Version identifies the prefixes: vectors made with other prefixes have another identity.
	Version int
	// Price in US dollars per million tokens, at the vendor's own service; 0: unknown.
	Price float64
	// MaxBytes is where a text is cut before it is sent; a text that is still too long for the model is then halved
	// until it is accepted. 0: DefaultMaxBytes.
	MaxBytes int
}

// DefaultMaxBytes is the limit for an unknown model.
const DefaultMaxBytes = 24_000

const searchPassages = "Represent this sentence for searching relevant passages: "

// known lists models by a prefix of their name, without owner ("nomic-ai/") and tag (":latest"); the longest prefix
// wins. A version is never reused.
var known = []struct {
	prefix string
	Model
}{
	{"text-embedding-3-small", Model{Dimension: 1536, Version: 1, Price: 0.02}},
	{"text-embedding-3-large", Model{Dimension: 3072, Version: 1, Price: 0.13}},
	{"text-embedding-ada-002", Model{Dimension: 1536, Version: 1, Price: 0.10}},
	{"nomic-embed-text", Model{Dimension: 768, Query: "search_query: ", Passage: "search_document: ", Version: 2}},
	{"nomic-embed-text-v2", Model{Dimension: 768, Query: "search_query: ", Passage: "search_document: ", Version: 2, MaxBytes: 2000}},
	{"e5-", Model{Query: "query: ", Passage: "passage: ", Version: 3, MaxBytes: 2000}},
	{"multilingual-e5-", Model{Query: "query: ", Passage: "passage: ", Version: 3, MaxBytes: 2000}},
	{"multilingual-e5-large-instruct", Model{
		Dimension: 1024, Version: 7, MaxBytes: 2000,
		Query: "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: ",
	}},
	{"bge-small-en", Model{Dimension: 384, Query: searchPassages, Version: 4, MaxBytes: 2000}},
	{"bge-base-en", Model{Dimension: 768, Query: searchPassages, Version: 4, MaxBytes: 2000}},
	{"bge-large", Model{Dimension: 1024, Query: searchPassages, Version: 4, MaxBytes: 2000}},
	{"bge-large-zh", Model{Dimension: 1024, Version: 5, MaxBytes: 2000, Query: "为这个句子生成表示以用于检索相关文章："}},
	{"bge-m3", Model{Dimension: 1024, Version: 1}},
	{"mxbai-embed-large", Model{Dimension: 1024, Query: searchPassages, Version: 4, MaxBytes: 2000}},
	{"snowflake-arctic-embed", Model{Query: searchPassages, Version: 4, MaxBytes: 2000}},
	{"snowflake-arctic-embed2", Model{Dimension: 1024, Query: "query: ", Version: 6}},
	{"snowflake-arctic-embed-l-v2", Model{Dimension: 1024, Query: "query: ", Version: 6}},
	{"all-minilm", Model{Dimension: 384, Version: 1, MaxBytes: 2000}},
}

// KnownModel looks a model up. An unknown one is used without prefixes.
func KnownModel(name string) Model {
	found, _ := lookUp(name)
	found.MaxBytes = cmp.Or(found.MaxBytes, DefaultMaxBytes)
	return found
}

// IsEmbeddingModel reports whether a server's model creates vectors, judging by its name: servers list chat models too.
func IsEmbeddingModel(name string) bool {
	_, ok := lookUp(name)
	return ok || strings.Contains(strings.ToLower(name), "embed")
}

func lookUp(name string) (Model, bool) {
	name = strings.ToLower(name)
	name = name[strings.LastIndexByte(name, '/')+1:]
	name, _, _ = strings.Cut(name, ":")
	found, length := Model{Version: 1}, 0
	for _, k := range known {
		if len(k.prefix) > length && strings.HasPrefix(name, k.prefix) {
			found, length = k.Model, len(k.prefix)
		}
	}
	if rest, ok := strings.CutPrefix(name, lmStudioMark); ok && length == 0 {
		return lookUp(rest)
	}
	return found, length > 0
}

// lmStudioMark is the prefix of every embedding model in LM Studio's list.
const lmStudioMark = "text-embedding-"

// Prefixed adds the model's prefix to each text.
func (m Model) Prefixed(kind Kind, texts []string) []string {
	prefix := m.Passage
	if kind == Query {
		prefix = m.Query
	}
	if prefix == "" {
		return texts
	}
	return lists.Map(texts, func(s string) string { return prefix + s })
}
