package deletion

// Erasures counts the permanent deletions since the database was opened: caches of stored texts are valid only while
// it stays the same.
func (s *Deletion) Erasures() int64 { return s.Erased.Load() }
