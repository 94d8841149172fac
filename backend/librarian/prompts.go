package librarian

import (
	"embed"
	"strings"
	"text/template"

	"contextinfinity/backend/internal/untrusted"
)

//go:embed prompts/*.md
var promptFiles embed.FS

var templates = template.Must(template.ParseFS(promptFiles, "prompts/*.md"))

// question is the data for a prompt's template. Every text in it is escaped, so that it cannot close its element
// (SPEC 2.8).
type question struct {
	Target   int
	Pins     int
	Previous string
	Passages string
	Titled   bool     // a title is requested, before the summary
	Style    string   // of a range's prose: "" or StyleNarrative
	Problem  string   // of the previous attempt
	Rejected string   // the rejected answer
	Missing  []string // entries that it lacks
}

// Words is about how many words the target allows: models keep to a limit in words better.
func (q question) Words() int { return max(q.Target*2/3/10*10, 10) }

// render executes a template. The templates are part of the program and their data is plain, so a failure is a bug
// that the tests reveal.
func render(name string, q question) string {
	var b strings.Builder
	if err := templates.ExecuteTemplate(&b, name+".md", q); err != nil {
		panic("librarian: the prompt " + name + " cannot be written: " + err.Error())
	}
	return strings.TrimSpace(b.String()) + "\n"
}

var (
	escaper   = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
	unescaper = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&#91;", "[", "&#93;", "]", "&amp;", "&")
)

// escape returns a text that can neither close its element nor act as a control token, and has no invisible characters.
func escape(s string) string { return untrusted.Document(escaper.Replace(untrusted.Visible(s))) }
