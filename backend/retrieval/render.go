package retrieval

import (
	"strconv"
	"strings"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/prompt"
)

// sliceSeparator separates slices of a text that are not adjacent.
const sliceSeparator = " … "

// Render returns a chunk as it appears in a prompt: the number of its turn, the hour (UTC) and the speaker, then its
// text: complete, the given slices of its source, or its summary. Its day is on a separate line above (Day), shared by
// all chunks of that day, because each character here costs tokens in every artifact. Render is pure: with the form and
// slices in a manifest it produces the same bytes again. Slices outside the source are left out.
func Render(c chat.ChunkText, form chat.PackedAs, slices []chat.Span) string {
	body := c.Text
	switch form {
	case chat.PackedSummary:
		body = c.Brief()
	case chat.PackedSlice:
		body = strings.Join(quoted(c.Source, slices), sliceSeparator)
	}
	if c.ProjectFile && c.File != nil {
		return "file " + label(c.File.Name) + ", " + Place(c, slices) + ": " + strings.TrimSpace(body)
	}
	return "#" + strconv.FormatInt(c.TurnSeq, 10) + hour(c.At) + " " + speaker(c) + ": " + strings.TrimSpace(body)
}

// Unframed returns a rendered chunk without what the program wrote before its text: the number of its turn, the hour
// and the place in a document, none of which a search matches. The name of a person or document is kept, because it is
// searched.
func Unframed(rendered string) string {
	frame, body, ok := strings.Cut(rendered, ": ") // the colon of an hour is followed by a digit, and names have none
	if !ok {
		return rendered
	}
	name := frame
	if strings.HasPrefix(frame, "#") {
		_, name, _ = strings.Cut(frame, " ")
		if at, rest, ok := strings.Cut(name, " "); ok && isHour(at) {
			name = rest
		}
	} else if at := strings.LastIndex(frame, ", "); at >= 0 {
		name = frame[:at]
	}
	switch name = strings.TrimPrefix(strings.TrimPrefix(name, "document "), "file "); name {
	case string(chat.RoleUser), string(chat.RoleAssistant), "tool":
		return body
	}
	return name + ": " + body
}

func isHour(s string) bool {
	_, err := time.Parse("15:04", s)
	return err == nil
}

// Place is the position of a chunk, or of the given slices, in its document: "lines 3-12", or "page 2" if the
// document has pages.
func Place(c chat.ChunkText, slices []chat.Span) string {
	from, to := c.Start, c.End
	if len(slices) > 0 {
		from, to = slices[0].Start, slices[len(slices)-1].End
	}
	span := inside(c, chat.Span{Start: from, End: to})
	unit, mark := "line", "\n"
	if strings.Contains(c.Source, pageBreak) || c.File != nil && c.File.Paged() {
		unit, mark = "page", pageBreak
	}
	body := c.Source[span.Start:span.End]
	trimmed := strings.TrimSpace(body)
	begin := span.Start + strings.Index(body, trimmed)
	first := strings.Count(c.Source[:begin], mark) + 1
	last := first + strings.Count(trimmed, mark)
	if first == last {
		return unit + " " + strconv.Itoa(first)
	}
	return unit + "s " + strconv.Itoa(first) + "-" + strconv.Itoa(last)
}

// pageBreak separates the pages of a PDF.
const pageBreak = "\f"

// Quoted returns the parts of a chunk's source that an artifact contains; a summary quotes nothing.
func (a Artifact) Quoted() []string {
	switch a.Form {
	case chat.PackedSummary:
		return nil
	case chat.PackedSlice:
		return quoted(a.Source, a.Slices)
	}
	return []string{a.ChunkText.Text}
}

// quoted returns slices of a source, without those outside it.
func quoted(source string, slices []chat.Span) []string {
	var parts []string
	for _, s := range slices {
		if s.Start >= 0 && s.Start < s.End && s.End <= len(source) {
			parts = append(parts, strings.TrimSpace(source[s.Start:s.End]))
		}
	}
	return parts
}

// speaker is the speaker of a chunk, or the document that it belongs to. Names are untrusted: one with several lines,
// or with a colon, could imitate another speaker.
func speaker(c chat.ChunkText) string {
	switch {
	case c.File != nil:
		return "document " + label(c.File.Name)
	case c.Type == chat.ChunkToolResult:
		return "tool"
	case c.Speaker != "":
		return label(c.Speaker)
	}
	return string(c.Role)
}

const maxLabel = 100 // bytes

func label(name string) string {
	name = strings.Join(strings.Fields(strings.NewReplacer(":", " ", "：", " ").Replace(name)), " ")
	if len(name) > maxLabel {
		name = strings.ToValidUTF8(name[:maxLabel], "") + "…"
	}
	return name
}

// hour is empty at exactly midnight, the time of imported messages with only a date.
func hour(at time.Time) string {
	at = at.UTC()
	if at.Equal(at.Truncate(24 * time.Hour)) {
		return ""
	}
	return at.Format(" 15:04")
}

// Day returns the line above the chunks of a day in a prompt: the date (UTC). current is the session of the prompt, if
// any; chunks of another session are marked, because its turns have the same numbers.
func Day(c chat.ChunkText, current chat.SessionID) string {
	day := c.At.UTC().Format("2 January 2006")
	if c.ProjectFile {
		return "Files of the project, as read on " + day
	}
	if current != "" && c.SessionID != current {
		day += ", another conversation"
	}
	return day
}

// Passage returns a chunk as an artifact of a prompt of the current session.
func Passage(c chat.ChunkText, form chat.PackedAs, slices []chat.Span, current chat.SessionID) prompt.Artifact {
	a := prompt.Artifact{
		ID: string(c.ID), Turn: string(c.SourceTurn), Form: form, Slices: slices, Text: Render(c, form, slices),
		Day: Day(c, current), At: c.At.UnixMilli(), Seq: c.TurnSeq, Ordinal: c.Ordinal,
	}
	if c.Brief() != "" {
		a.Summary, a.ByLibrarian = Render(c, chat.PackedSummary, nil), c.ByLibrarian != ""
	}
	return a
}
