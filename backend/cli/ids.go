package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
)

// shortestID is the minimum length of a shortened id: its beginning or end, if that is unambiguous.
const shortestID = 4

// idPage is how many turns are read at once when searching for a shortened id.
const idPage = 200

// parseID checks the form of an id as typed.
func parseID(kind, s string) (string, error) {
	id := strings.ToUpper(strings.TrimSpace(s))
	const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	switch {
	case len(id) < shortestID || len(id) > 26 || strings.Trim(id, alphabet) != "":
	case len(id) == 26 && !chat.ValidID(id):
	default:
		return id, nil
	}
	return "", usageHint(fmt.Sprintf("give its 26 letters and digits, or the last %d to 25 of them", shortestID),
		"%q is not a %s id.", clip(s, 40), kind)
}

// match finds the id that fragment stands for. An exact match wins.
func match[T ~string](kind, fragment string, ids []T) (T, error) {
	var found []T
	for _, id := range ids {
		s := string(id)
		if s == fragment {
			return id, nil
		}
		if strings.HasSuffix(s, fragment) || strings.HasPrefix(s, fragment) {
			found = append(found, id)
		}
	}
	slices.Sort(found)
	found = slices.Compact(found)
	switch len(found) {
	case 0:
		return "", chat.Errorf(chat.CodeNotFound, "cli.find", "There is no %s %s.", kind, fragment)
	case 1:
		return found[0], nil
	}
	names := lists.Map(found[:min(len(found), 8)], func(id T) string { return string(id) })
	if len(found) > len(names) {
		names = append(names, "...")
	}
	return "", usageHint("type more of it: "+strings.Join(names, ", "), "%d %ss match %s.", len(found), kind, fragment)
}

// find finds the id among ids that was typed, or a part of it.
func find[T ~string](kind, typed string, ids []T) (T, error) {
	fragment, err := parseID(kind, typed)
	if err != nil {
		return "", err
	}
	return match(kind, fragment, ids)
}

func full(id string) bool { return len(id) == 26 }

// session finds a session by id, including archived ones.
func (s *Services) session(ctx context.Context, typed string) (chat.Session, error) {
	id, err := parseID("session", typed)
	if err != nil {
		return chat.Session{}, err
	}
	if !full(id) {
		ids, err := s.sessionIDs(ctx)
		if err != nil {
			return chat.Session{}, err
		}
		found, err := match("session", id, ids)
		if err != nil {
			return chat.Session{}, err
		}
		id = string(found)
	}
	return s.Sessions.Session(ctx, chat.SessionID(id))
}

// everySession lists open and archived sessions.
func (s *Services) everySession(ctx context.Context) ([]chat.SessionSummary, error) {
	open, err := s.Sessions.Sessions(ctx, chat.SessionQuery{})
	if err != nil {
		return nil, err
	}
	archived, err := s.Sessions.Sessions(ctx, chat.SessionQuery{Archived: true})
	return append(open, archived...), err
}

func (s *Services) sessionIDs(ctx context.Context) ([]chat.SessionID, error) {
	all, err := s.everySession(ctx)
	return lists.Map(all, func(summary chat.SessionSummary) chat.SessionID { return summary.ID }), err
}

// branchOf finds a branch of the session; an empty id is the active one.
func (s *Services) branchOf(ctx context.Context, session chat.Session, typed string) (chat.Branch, error) {
	if typed == "" {
		return s.Sessions.Branch(ctx, session.ActiveBranch)
	}
	id, err := parseID("branch", typed)
	if err != nil {
		return chat.Branch{}, err
	}
	all, err := s.Sessions.Branches(ctx, session.ID)
	if err != nil {
		return chat.Branch{}, err
	}
	ids := lists.Map(all, func(b chat.BranchSummary) chat.BranchID { return b.ID })
	found, err := match("branch", id, ids)
	if chat.CodeOf(err) == chat.CodeNotFound {
		return chat.Branch{}, chat.Errorf(chat.CodeNotFound, "cli.find", "Session %s has no branch %s.", session.ID, id)
	}
	if err != nil {
		return chat.Branch{}, err
	}
	return s.Sessions.Branch(ctx, found)
}

// place finds a session and one of its branches.
func (s *Services) place(ctx context.Context, session, branch string) (chat.Session, chat.Branch, error) {
	found, err := s.session(ctx, session)
	if err != nil {
		return chat.Session{}, chat.Branch{}, err
	}
	b, err := s.branchOf(ctx, found, branch)
	return found, b, err
}

// anyBranch finds a branch without knowing its session.
func (s *Services) anyBranch(ctx context.Context, typed string) (chat.Branch, error) {
	id, err := parseID("branch", typed)
	if err != nil {
		return chat.Branch{}, err
	}
	if full(id) {
		return s.Sessions.Branch(ctx, chat.BranchID(id))
	}
	all, err := s.everyBranch(ctx)
	if err != nil {
		return chat.Branch{}, err
	}
	found, err := match("branch", id, all)
	if err != nil {
		return chat.Branch{}, err
	}
	return s.Sessions.Branch(ctx, found)
}

func (s *Services) everyBranch(ctx context.Context) ([]chat.BranchID, error) {
	sessions, err := s.sessionIDs(ctx)
	if err != nil {
		return nil, err
	}
	var ids []chat.BranchID
	for _, id := range sessions {
		branches, err := s.Sessions.Branches(ctx, id)
		if err != nil {
			return nil, err
		}
		for _, b := range branches {
			ids = append(ids, b.ID)
		}
	}
	return ids, nil
}

// turn finds a turn by id. A complete id needs one lookup; a shortened one is searched for in every branch, because
// it must be unique.
func (s *Services) turn(ctx context.Context, typed string) (chat.Turn, error) {
	id, err := parseID("turn", typed)
	if err != nil {
		return chat.Turn{}, err
	}
	if !full(id) {
		branches, err := s.everyBranch(ctx)
		if err != nil {
			return chat.Turn{}, err
		}
		ids, err := s.turnsLike(ctx, branches, id)
		if err != nil {
			return chat.Turn{}, err
		}
		found, err := match("turn", id, ids)
		if err != nil {
			return chat.Turn{}, err
		}
		id = string(found)
	}
	return s.Store.Turn(ctx, chat.TurnID(id))
}

// turnsLike collects the turns of the branches whose ids match.
func (s *Services) turnsLike(ctx context.Context, branches []chat.BranchID, fragment string) ([]chat.TurnID, error) {
	var out []chat.TurnID
	for _, b := range branches {
		err := s.eachTurn(ctx, b, 0, func(t chat.Turn) error {
			id := string(t.ID)
			if strings.HasSuffix(id, fragment) || strings.HasPrefix(id, fragment) {
				out = append(out, t.ID)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// eachTurn walks a lineage in order from a turn_seq on, page by page.
func (s *Services) eachTurn(ctx context.Context, branch chat.BranchID, from int64, f func(chat.Turn) error) error {
	for {
		turns, err := s.Store.Lineage(ctx, chat.LineageQuery{Branch: branch, FromSeq: from, Limit: idPage})
		if err != nil {
			return err
		}
		for _, t := range turns {
			if err := f(t); err != nil {
				return err
			}
		}
		if len(turns) < idPage {
			return nil
		}
		from = turns[len(turns)-1].Seq + 1
	}
}

// state finds a state summary of the session by id, on any branch.
func (s *Services) state(ctx context.Context, session chat.SessionID, typed string) (chat.StateID, error) {
	id, err := parseID("state", typed)
	if err != nil {
		return "", err
	}
	if full(id) {
		return chat.StateID(id), nil
	}
	all, err := s.Sessions.Branches(ctx, session)
	if err != nil {
		return "", err
	}
	var ids []chat.StateID
	for _, b := range all {
		states, err := s.Inspecting.States(ctx, b.ID)
		if err != nil {
			return "", err
		}
		for _, st := range states {
			ids = append(ids, st.ID)
		}
	}
	return match("state", id, ids)
}

// recent returns the most recently used session; false if there is none.
func (s *Services) recent(ctx context.Context) (chat.Session, bool, error) {
	all, err := s.Sessions.Sessions(ctx, chat.SessionQuery{})
	if err != nil || len(all) == 0 {
		return chat.Session{}, false, err
	}
	// The list has pinned sessions first, whenever they were used.
	newest := slices.MaxFunc(all, func(a, b chat.SessionSummary) int { return a.UpdatedAt.Compare(b.UpdatedAt) })
	return newest.Session, true, nil
}
