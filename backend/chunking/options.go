package chunking

import (
	"path"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lexical"
)

// Sizes in tokens: chunks according to SRD 9.1, the others as measured (docs/recall.md). Text that neighbouring chunks
// share was measured too and had no benefit.
const (
	defaultMin     = 200
	defaultMax     = 800
	defaultUnit    = 600
	answerTokens   = 60 // of the beginning of the reply, indexed with the beginning of the user's message
	questionTokens = 30 // of the user's message, indexed with every unit of the reply
)

// Options configure a chunker. Zero fields have defaults.
type Options struct {
	// Count returns the tokens of a text; it is called once per unit. Nil: four bytes per token.
	Count func(string) int
	// MinTokens and MaxTokens are the target size of chunks, in estimated tokens.
	MinTokens, MaxTokens int
	// UnitMin and UnitMax are the target size of units, of which chunks consist; by default 600, and a quarter of
	// that. A text of at most UnitMax is not split. According to measurements, retrieval is worse with smaller units,
	// and slightly better if a unit may end before a heading.
	UnitMin, UnitMax int
}

// filled returns the options with defaults for zero fields.
func (o Options) filled() Options {
	if o.Count == nil {
		o.Count = func(s string) int { return (len(s) + 3) / 4 }
	}
	or := func(n *int, def int) {
		if *n <= 0 {
			*n = def
		}
	}
	or(&o.MinTokens, defaultMin)
	or(&o.MaxTokens, max(defaultMax, o.MinTokens))
	or(&o.UnitMax, defaultUnit)
	o.MinTokens = min(o.MinTokens, o.MaxTokens)
	o.UnitMax = min(o.UnitMax, o.MaxTokens)
	or(&o.UnitMin, o.UnitMax/4)
	o.UnitMin = min(o.UnitMin, o.UnitMax)
	return o
}

// extensions determine how a document is parsed. For other documents the media type decides; by default a document is
// plain text.
var extensions = map[form]map[string]bool{
	formMarkdown: lexical.Set(`.md .markdown .mdown .mkd .mdx .qmd .rmd .docx .docm .dotx .xlsx .xlsm .pptx .pptm .odt .ods .odp .epub`),
	formCode: lexical.Set(`.go .py .pyi .js .mjs .cjs .jsx .ts .tsx .mts .cts .svelte .vue .rs .java .kt .kts .scala .groovy .c .h .cc .cpp .cxx .hh
		.hpp .m .mm .cs .fs .vb .swift .dart .rb .php .pl .pm .lua .r .jl .ex .exs .erl .hs .clj .lisp .el .ml .nim .zig .d .sol .asm .s
		.sh .bash .zsh .fish .ps1 .bat .cmd .sql .proto .graphql .gql .tf .hcl .cmake .mk .gradle .nix .css .scss .less .html .htm .xml
		.json .jsonc .yaml .yml .toml .ini .cfg .conf`),
	formPlain: lexical.Set(`.txt .text .log .csv .tsv .rst .pdf .tex .org`),
}

// codeTypes are media types of code that do not begin with "text/x-".
var codeTypes = lexical.Set(`application/json application/javascript application/x-javascript application/xml application/x-sh application/sql
	application/x-yaml application/yaml application/toml text/javascript text/css text/html text/xml text/typescript text/yaml`)

func formOf(file chat.File) form {
	ext := strings.ToLower(path.Ext(file.Name))
	for _, f := range []form{formMarkdown, formCode, formPlain} {
		if extensions[f][ext] {
			return f
		}
	}
	media, _, _ := strings.Cut(strings.ToLower(file.MediaType), ";")
	media = strings.TrimSpace(media)
	switch {
	case media == "text/markdown":
		return formMarkdown
	case codeTypes[media], strings.HasPrefix(media, "text/x-"):
		return formCode
	}
	return formPlain
}
