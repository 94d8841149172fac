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

// lineagePage is how many turns of a lineage are read at once.
const lineagePage = 200

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

// id finds the id of a kind that was typed, or a part of it, in one session or in all of them. A complete one is not
// searched for.
func (s *Services) id(ctx context.Context, kind string, in chat.SessionID, typed string) (string, error) {
	id, err := parseID(kind, typed)
	if err != nil || full(id) {
		return id, err
	}
	ids, err := s.Store.IDs(ctx, kind, in, id)
	if err != nil {
		return "", err
	}
	return match(kind, id, ids)
}

// byID finds something by its id, in one session or in all of them.
func byID[T any, I ~string](
	ctx context.Context, s *Services, kind string, in chat.SessionID, typed string, read func(context.Context, I) (T, error),
) (none T, err error) {
	id, err := s.id(ctx, kind, in, typed)
	if err != nil {
		return none, err
	}
	return read(ctx, I(id))
}

// session finds a session by id, including archived ones.
func (s *Services) session(ctx context.Context, typed string) (chat.Session, error) {
	return byID(ctx, s, "session", "", typed, s.Sessions.Session)
}

// anyBranch finds a branch without knowing its session.
func (s *Services) anyBranch(ctx context.Context, typed string) (chat.Branch, error) {
	return byID(ctx, s, "branch", "", typed, s.Sessions.Branch)
}

func (s *Services) turn(ctx context.Context, typed string) (chat.Turn, error) {
	return byID(ctx, s, "turn", "", typed, s.Store.Turn)
}

// branchOf finds a branch of the session; an empty id is the active one.
func (s *Services) branchOf(ctx context.Context, session chat.Session, typed string) (chat.Branch, error) {
	if typed == "" {
		return s.Sessions.Branch(ctx, session.ActiveBranch)
	}
	id, err := s.id(ctx, "branch", session.ID, typed)
	var b chat.Branch
	if err == nil {
		b, err = s.Sessions.Branch(ctx, chat.BranchID(id))
	}
	if chat.CodeOf(err) == chat.CodeNotFound || err == nil && b.SessionID != session.ID {
		id = strings.ToUpper(strings.TrimSpace(typed))
		err = chat.Errorf(chat.CodeNotFound, "cli.find", "Session %s has no branch %s.", session.ID, id)
	}
	return b, err
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

// eachTurn walks a lineage in order from a turn_seq on, page by page.
func (s *Services) eachTurn(ctx context.Context, branch chat.BranchID, from int64, f func(chat.Turn) error) error {
	for {
		turns, err := s.Store.Lineage(ctx, chat.LineageQuery{Branch: branch, FromSeq: from, Limit: lineagePage})
		if err != nil {
			return err
		}
		for _, t := range turns {
			if err := f(t); err != nil {
				return err
			}
		}
		if len(turns) < lineagePage {
			return nil
		}
		from = turns[len(turns)-1].Seq + 1
	}
}

// branchOrLast returns the branch that is named, or the active one of the session used last; an empty one if there is
// none.
func (r *run) branchOrLast(ctx context.Context) (chat.Branch, error) {
	if r.branch.ID != "" {
		return r.branch, nil
	}
	last, ok, err := r.s.recent(ctx)
	if err != nil || !ok {
		return chat.Branch{}, err
	}
	return r.s.Sessions.Branch(ctx, last.ActiveBranch)
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
