package deletion

// Deletions counts the permanent deletions since the database was opened: caches of stored texts are valid only while
// it stays the same.
func (s *Deletion) Deletions() int64 { return s.Core.Deletions.Load() }
