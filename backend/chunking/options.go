package chunking

import (
	"path"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lexical"
)

// Sizes where Options have none, in tokens: chunks as SRD 9.1 says, units as
// measured (docs/recall.md).
const (
	defaultMin      = 200
	defaultMax      = 800
	defaultUnit     = 600
	defaultAnswer   = 60
	defaultQuestion = 30
)

// Options are what a chunker needs from outside. Zero fields have defaults.
type Options struct {
	// Count measures a text in tokens; it is called once for each unit. Nil: four
	// bytes a token.
	Count func(string) int
	// MinTokens and MaxTokens are the size that chunks aim at. They are estimated
	// where text is cut, so that no count is needed.
	MinTokens, MaxTokens int
	// Overlap is how much of the text before it a chunk repeats, in tokens, at most
	// half the largest chunk. None by default: measured, it gains nothing.
	Overlap int
	// UnitMin and UnitMax are the same of units, of which chunks are made: 600, and a
	// quarter of it. A text of UnitMax is not cut. Measured, smaller units are found
	// less well, and those that may end at a heading a little better.
	UnitMin, UnitMax int
	// AnswerTokens is how much of the beginning of the reply is indexed with the
	// user's first words, QuestionTokens how much of the user's message with every
	// unit of the reply. Negative: none.
	AnswerTokens, QuestionTokens int
	// Headings puts those that a unit is under into what is indexed. Units of
	// documents always have them.
	Headings bool
}

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
	o.Overlap = min(max(o.Overlap, 0), o.MaxTokens/2)
	if o.AnswerTokens == 0 {
		o.AnswerTokens = defaultAnswer
	}
	if o.QuestionTokens == 0 {
		o.QuestionTokens = defaultQuestion
	}
	return o
}

// extensions say how a document is read. What is not here is read by its media
// type, else as plain text.
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
