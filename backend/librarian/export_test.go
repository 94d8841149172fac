package librarian

// Entities are those of a text of nobody in particular, in order, each once.
func Entities(text string) []Entity { return read(text, anybody) }

// Entries are a section's, oldest first.
func (s Summary) Entries(sec Section) []string { return s.entries[sec] }
