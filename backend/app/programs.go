package app

import (
	"context"
	"os"

	"contextinfinity/backend/api"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/config"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/mcpserver"
)

// serveHTTP serves programs over HTTP while the configuration allows it.
func (a *app) serveHTTP() {
	a.http = mcpserver.NewHTTP(mcpserver.Options{
		Version: version, Tools: memoryTools(), Log: a.Log,
		Send: func(ctx context.Context, r mcpserver.Request) (mcpserver.Answer, error) {
			answer, err := a.Programs.Do(ctx, r)
			if answer.Noted {
				a.Jobs.Wake()
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
			a.Log.Warn("other programs are not served over HTTP", "err", err)
		}
	}
	apply(a.Config.Config())
	unsubscribe := a.Config.Subscribe(apply)
	a.onClose(func(context.Context) error { unsubscribe(); a.http.Close(); return nil })
}

// programAccess returns how the window's page about other programs shows what the services do not know.
func (a *app) programAccess() api.ProgramAccess {
	return api.ProgramAccess{
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
				url := mcpserver.URL(a.Config.Config().Programs.Port)
				list = []mcpserver.Snippet{mcpserver.RemoteSnippet(url, token)}
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
		args = append(args, "--config", realPath(a.Config.Path()))
	}
	if a.flags.DataDir != "" || os.Getenv("XDG_DATA_HOME") != "" {
		args = append(args, "--data-dir", realPath(a.Config.Config().DataDir))
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
