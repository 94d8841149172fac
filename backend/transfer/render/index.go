package render

import (
	"cmp"
	"html"
	"io"
	"net/url"
	"time"

	"contextinfinity/backend/internal/display"
)

// Index lists the files of an export of several conversations.
type Index struct{ Entries []IndexEntry }

// IndexEntry is a file in the list.
type IndexEntry struct {
	File      string
	Title     string
	Turns     int
	CreatedAt time.Time
	UpdatedAt time.Time
	Archived  bool
}

func (e IndexEntry) title() string {
	s := display.OneLine(e.Title)
	s = cmp.Or(s, "Untitled session")
	if e.Archived {
		s += " (archived)"
	}
	return s
}

// address returns the file's URL relative to the index.
func (e IndexEntry) address() string { return "./" + url.PathEscape(e.File) }

// Markdown writes the list as Markdown.
func (x Index) Markdown(w io.Writer) error {
	out := newWriter(w)
	out.put("# Sessions\n\n", count(len(x.Entries), "session"), " exported from ContextInfinity.\n\n")
	for _, e := range x.Entries {
		out.put("- [", escaped(e.title()), "](", e.address(), "), ", count(e.Turns, "turn"), ", ", formatTime(e.CreatedAt), " to ", formatTime(e.UpdatedAt), "\n")
	}
	return out.flush()
}

// HTML writes the list as a page.
func (x Index) HTML(w io.Writer) error {
	p := &page{writer: newWriter(w)}
	p.opening("Sessions")
	p.put("<header>\n<h1>Sessions</h1>\n<p>", count(len(x.Entries), "session"), " exported from ContextInfinity.</p>\n</header>\n<main id=\"conversation\" tabindex=\"-1\">\n<ul>\n")
	for _, e := range x.Entries {
		p.put("<li><a href=\"", html.EscapeString(e.address()), "\"><bdi>", html.EscapeString(e.title()), "</bdi></a>, ",
			count(e.Turns, "turn"), ", ", moment(e.CreatedAt), " to ", moment(e.UpdatedAt), "</li>\n")
	}
	p.put("</ul>\n</main>\n</body>\n</html>\n")
	return p.flush()
}
