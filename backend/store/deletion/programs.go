package deletion

// accesses removes from the access log the queries for which other programs were shown deleted content: a query may
// contain its words. The entry itself stays.
func (e *Operation) accesses(where string, args ...any) error {
	return e.remove("mcp_accesses", `UPDATE mcp_accesses SET query = '' WHERE query <> '' AND id IN (SELECT access_id FROM mcp_shown WHERE `+where+`)`, args...)
}

// programs removes the turn from the access log and from the notes of other programs: the key of a note may reveal
// its text.
func (x *turnDeletion) programs() error {
	if err := x.accesses(`turn_id IN ?`, x.ids()); err != nil {
		return err
	}
	if err := x.remove("mcp_shown", `DELETE FROM mcp_shown WHERE turn_id IN ?`, x.ids()); err != nil {
		return err
	}
	return x.remove("mcp_notes", `DELETE FROM mcp_notes WHERE turn_id IN ?`, x.ids())
}
