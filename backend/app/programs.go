package app

import (
	"context"
	"os"

	"contextinfinity/backend/api"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/config"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/mcpserver"
	"contextinfinity/backend/store"
)

// programs gives other programs access to this memory.
type programs struct {
	*store.Store
	gateway *mcpserver.Gateway
}

// Do handles a request of another program.
func (p programs) Do(ctx context.Context, r mcpserver.Request) (mcpserver.Answer, error) {
	return p.gateway.Do(ctx, r)
}

// MakeToken creates a program's token.
func (p programs) MakeToken(ctx context.Context, client string) (string, error) {
	return mcpserver.MakeToken(ctx, p.Store, client)
}

// RevokeToken revokes a program's token.
func (p programs) RevokeToken(ctx context.Context, client string) error {
	return mcpserver.RevokeToken(ctx, p.Store, client)
}

func (a *app) programs() programs {
	return programs{a.store, &mcpserver.Gateway{
		Store: a.store, Reader: newMemoryReader(a),
		Changed: func() { a.fanout.Change(chat.Change{Kind: chat.ChangePrograms}) },
	}}
}

// serveHTTP serves programs over HTTP while the configuration allows it.
func (a *app) serveHTTP() {
	gateway := a.programs()
	a.http = mcpserver.NewHTTP(mcpserver.Options{
		Version: version, Tools: memoryTools(), Log: a.log,
		Send: func(ctx context.Context, r mcpserver.Request) (mcpserver.Answer, error) {
			answer, err := gateway.Do(ctx, r)
			if answer.Noted {
				a.jobs.Wake()
				a.fanout.Change(chat.Change{Kind: chat.ChangeSessions})
			}
			return answer, err
		},
	})
	apply := func(c *config.Config) {
		port := 0
		if c.Programs.HTTP {
			port = c.Programs.Port
		}
		if err := a.http.Apply(port); err != nil {
			a.log.Warn("other programs are not served over HTTP", "err", err)
		}
	}
	apply(a.config.Config())
	a.unsubscribeHTTP = a.config.Subscribe(apply)
}

func (a *app) stopHTTP() {
	if a.http != nil {
		a.unsubscribeHTTP()
		a.http.Close()
	}
}

// programAccess returns the part that the window uses.
func (a *app) programAccess() api.ProgramAccess {
	p := a.programs()
	return api.ProgramAccess{
		Store: p, MakeToken: p.MakeToken, RevokeToken: p.RevokeToken,
		Status: func() (running bool, url, problem string) {
			if a.http == nil {
				return false, "", ""
			}
			url, problem = a.http.Address()
			return url != "", url, problem
		},
		Snippets: func(token string) []api.ProgramSnippetView {
			list := mcpserver.Snippets(ownCommand(), a.locationFlags()...)
			if token != "" {
				list = []mcpserver.Snippet{mcpserver.RemoteSnippet(mcpserver.URL(a.config.Config().Programs.Port), token)}
			}
			return lists.Map(list, func(s mcpserver.Snippet) api.ProgramSnippetView { return api.ProgramSnippetView(s) })
		},
	}
}

// locationFlags returns the flags with which a start from another program finds this data. They are needed because such
// a program passes on little of its environment.
func (a *app) locationFlags() []string {
	var args []string
	if a.flags.ConfigPath != "" || os.Getenv("XDG_CONFIG_HOME") != "" {
		args = append(args, "--config", realPath(a.config.Path()))
	}
	if a.flags.DataDir != "" || os.Getenv("XDG_DATA_HOME") != "" {
		args = append(args, "--data-dir", realPath(a.config.Config().DataDir))
	}
	return args
}

// ownCommand returns the command with which other programs start this one.
func ownCommand() string {
	if path := os.Getenv("APPIMAGE"); path != "" { // the path of the running executable is a temporary mount
		return path
	}
	path, err := os.Executable()
	if err != nil {
		return "contextinfinity"
	}
	return path
}
