package librarian

// Entities returns the entities of a text by an unspecified speaker, in order, without duplicates.
func Entities(text string) []Entity { return read(text, anybody) }

// Entries returns a section's entries, oldest first.
func (s Summary) Entries(sec Section) []string { return s.entries[sec] }
