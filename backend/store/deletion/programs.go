package deletion

// accesses takes out of the access record what other programs looked for when they were shown
// what is erased: the question may hold its words. That there was an access stays.
func (e *Erasing) accesses(where string, args ...any) error {
	return e.remove("mcp_accesses", `UPDATE mcp_accesses SET query = '' WHERE query <> '' AND id IN (SELECT access_id FROM mcp_shown WHERE `+where+`)`, args...)
}

// programs takes the turn out of the access record and out of the notes of other programs:
// the key of a note may tell its text.
func (x *erasingTurn) programs() error {
	if err := x.accesses(`turn_id IN ?`, x.ids()); err != nil {
		return err
	}
	if err := x.remove("mcp_shown", `DELETE FROM mcp_shown WHERE turn_id IN ?`, x.ids()); err != nil {
		return err
	}
	return x.remove("mcp_notes", `DELETE FROM mcp_notes WHERE turn_id IN ?`, x.ids())
}
