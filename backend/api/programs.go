package api

import (
	"context"
	"strconv"

	"contextinfinity/backend/chat"
)

// ProgramAccess is the part of the MCP server that the window uses.
type ProgramAccess struct {
	// Status returns whether and where the HTTP server runs, or why it does not.
	Status func() (running bool, url, problem string)
	// Snippets returns configurations for other programs; with a token, one that contains it.
	Snippets func(token string) []ProgramSnippetView
}

// Programs lists the other programs that use this memory, and sets what they may see.
type Programs struct{ c *Core }

// NewPrograms returns the service.
func NewPrograms(c *Core) *Programs { return &Programs{c} }

const settingHTTP = "mcp.server.http"

// accessPage is the number of accesses per page.
const accessPage = 100

// Panel returns the page about other programs.
func (s *Programs) Panel() (ProgramsPanel, error) {
	v := ProgramsPanel{Rev: s.c.Hub.Rev(), Clients: []ProgramClientView{}, Folders: []string{}}
	ctx := s.c.ctx()
	clients, err := s.c.Store.Clients(ctx)
	if err != nil {
		return v, err
	}
	for _, client := range clients {
		v.Clients = append(v.Clients, s.view(ctx, client))
	}
	folders, err := s.c.Sessions.Folders(ctx)
	if err != nil {
		return v, err
	}
	for _, f := range folders {
		v.Folders = append(v.Folders, f.Name)
	}
	v.HTTP.On = s.c.Config.Config().Programs.HTTP
	v.HTTP.Running, v.HTTP.URL, v.HTTP.Problem = s.c.Access.Status()
	v.Snippets = s.c.Access.Snippets("")
	return v, nil
}

func (s *Programs) view(ctx context.Context, c chat.Client) ProgramClientView {
	v := ProgramClientView{
		Name: c.Name, Scope: c.Scope, Sessions: []ProgramSessionView{}, Folders: append([]string{}, c.Folders...), Remember: c.Remember,
		Claims: c.Claims, TokenAt: milliseconds(c.TokenAt), CreatedAt: c.CreatedAt.UnixMilli(), SeenAt: milliseconds(c.SeenAt), Notes: string(c.Notes),
	}
	for _, id := range c.Sessions {
		session, err := s.c.Sessions.Session(ctx, id)
		if err != nil {
			continue // deleted in the meantime
		}
		v.Sessions = append(v.Sessions, ProgramSessionView{ID: string(id), Title: session.Title})
	}
	return v
}

// changed notifies the window, and returns the current page.
func (s *Programs) changed(err error) (ProgramsPanel, error) {
	if err != nil {
		return ProgramsPanel{}, err
	}
	s.c.Hub.Change(chat.Change{Kind: chat.ChangePrograms})
	return s.Panel()
}

// Allow sets what a program may see, and whether it may write notes.
func (s *Programs) Allow(c ProgramChoice) (ProgramsPanel, error) {
	choice := chat.ClientChoice{Name: c.Name, Scope: c.Scope, Folders: c.Folders, Remember: c.Remember}
	for _, id := range c.Sessions {
		choice.Sessions = append(choice.Sessions, chat.SessionID(id))
	}
	return s.changed(s.c.Store.AllowClient(s.c.ctx(), choice))
}

// Forget removes a program from the list, with its token; its notes and the record of its accesses are kept. If it
// connects again, it is listed as a new one.
func (s *Programs) Forget(name string) (ProgramsPanel, error) {
	return s.changed(s.c.Store.ForgetClient(s.c.ctx(), name))
}

// MakeToken creates a token for HTTP, replacing the program's previous one. It is shown only once, because only its
// hash is kept.
func (s *Programs) MakeToken(name string) (ProgramToken, error) {
	token, err := s.c.Programs.MakeToken(s.c.ctx(), name)
	if err != nil {
		return ProgramToken{}, err
	}
	s.c.Hub.Change(chat.Change{Kind: chat.ChangePrograms})
	v := ProgramToken{Name: name, Token: token}
	if list := s.c.Access.Snippets(token); len(list) > 0 {
		v.Snippet = list[0].Text
	}
	return v, nil
}

// RevokeToken ends a program's access over HTTP.
func (s *Programs) RevokeToken(name string) (ProgramsPanel, error) {
	return s.changed(s.c.Programs.RevokeToken(s.c.ctx(), name))
}

// SetHTTP turns the HTTP server on or off.
func (s *Programs) SetHTTP(on bool) (ProgramsPanel, error) {
	return s.changed(s.c.Config.Set(settingHTTP, strconv.FormatBool(on)))
}

// Accesses returns a page of the access record, newest first; an empty name means all programs. before is Next of the
// previous page, 0 for the first.
func (s *Programs) Accesses(client string, before int64) (ProgramAccessPage, error) {
	page := ProgramAccessPage{Accesses: []ProgramAccessView{}}
	list, err := s.c.Store.Accesses(s.c.ctx(), chat.AccessQuery{Client: client, Before: before, Limit: accessPage})
	for _, a := range list {
		v := ProgramAccessView{ID: a.ID, At: a.At.UnixMilli(), Client: a.Client, Tool: a.Tool, Query: a.Query, Outcome: a.Outcome, Shown: []ProgramShownView{}, More: a.More}
		for _, x := range a.Shown {
			v.Shown = append(v.Shown, ProgramShownView{SessionID: string(x.Session), Session: x.Title, TurnID: string(x.Turn)})
		}
		page.Accesses = append(page.Accesses, v)
	}
	if len(list) == accessPage {
		page.Next = list[len(list)-1].ID
	}
	return page, err
}

// ClearAccesses empties the access record.
func (s *Programs) ClearAccesses() error {
	err := s.c.Store.ClearAccesses(s.c.ctx())
	if err == nil {
		s.c.Hub.Change(chat.Change{Kind: chat.ChangePrograms})
	}
	return err
}
