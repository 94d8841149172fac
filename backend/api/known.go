package api

import "contextinfinity/backend/chat"

// Known returns a page of what is remembered of one kind in all sessions: pin, suggestion, instructions or summary.
// Entries that do not contain the text are left out.
func (s *Memory) Known(kind chat.KnownKind, text string, offset, limit int) (KnownPage, error) {
	v := KnownPage{Items: []KnownItem{}}
	found, total, err := s.c.Store.Known(s.c.ctx(), chat.KnownQuery{Kind: kind, Text: text, Offset: max(offset, 0), Limit: min(limit, 500)})
	if err != nil {
		return v, err
	}
	v.Total = total
	for _, k := range found {
		item := KnownItem{
			Kind: k.Kind, ID: k.ID, Project: k.Project, SessionID: string(k.SessionID), SessionTitle: k.SessionTitle, Archived: k.Archived,
			BranchID: string(k.BranchID), TurnID: string(k.TurnID), TurnSeq: k.TurnSeq, Text: k.Text,
		}
		if !k.At.IsZero() {
			item.At = k.At.UnixMilli()
		}
		if k.Kind == chat.KnownSuggestion {
			item.ID = string(k.BranchID) + suggestionSep + k.ID // as in PinSuggestion
		}
		v.Items = append(v.Items, item)
	}
	return v, nil
}
