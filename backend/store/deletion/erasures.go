package deletion

// Erasures counts the permanent deletions since the database was opened: what is kept in
// memory of stored texts holds only for one count.
func (s *Deletion) Erasures() int64 { return s.Erased.Load() }
