package cli

import (
	"context"
	"slices"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/mcpclient"
	"contextinfinity/backend/mcpsetup"
	"contextinfinity/backend/tools"
)

// serverRow is a server in lists. It contains no secrets.
type serverRow struct {
	Name      string   `json:"name"`
	Kind      string   `json:"kind"` // "stdio", "http"
	Enabled   bool     `json:"enabled"`
	Command   string   `json:"command,omitempty"`
	Args      []string `json:"args,omitempty"`
	URL       string   `json:"url,omitempty"`
	Missing   []string `json:"missing_secrets"`
	State     string   `json:"state,omitempty"`
	StateText string   `json:"words,omitempty"`
	Tools     int      `json:"tools"`
	// Accepted counts the tools that may be offered to models. Waiting counts those of a running server whose
	// definition was not accepted, or has changed since: they are not offered.
	Accepted int `json:"tools_accepted"`
	Waiting  int `json:"tools_waiting"`
}

type serversReply struct {
	Servers []serverRow `json:"servers"`
}

// rows returns the configured servers, with their states and the decisions about their tools.
func (s Servers) rows(ctx context.Context) ([]serverRow, error) {
	panel, err := s.Panel(ctx)
	if err != nil {
		return nil, err
	}
	return lists.Map(s.Manager.Statuses(), func(st mcpclient.Status) serverRow {
		row := serverRowOf(s.Setup, st)
		for _, d := range panel.Definitions {
			switch {
			case d.Source != row.Name:
			case d.Pinned == tools.PinnedNew, d.Pinned == tools.PinnedChanged:
				row.Waiting++
			case d.Pinned == tools.PinnedAccepted, st.State != mcpclient.StateReady:
				row.Accepted++
			}
		}
		return row
	}), nil
}

// row returns the server with this name.
func (s Servers) row(ctx context.Context, name string) (serverRow, error) {
	rows, err := s.rows(ctx)
	if err != nil {
		return serverRow{}, err
	}
	i := slices.IndexFunc(rows, func(r serverRow) bool { return r.Name == name })
	if i < 0 {
		return serverRow{}, chat.Errorf(chat.CodeNotFound, "mcp.server", "No MCP server of that name is configured.").WithHint("contextinfinity mcp servers lists them")
	}
	return rows[i], nil
}

func serverRowOf(set *mcpsetup.Setup, st mcpclient.Status) serverRow {
	cfg := st.Config
	r := serverRow{
		Name: cfg.Name, Kind: "stdio", Enabled: cfg.Enabled, Command: cfg.Command, Args: cfg.Args, URL: cfg.URL, Missing: []string{},
		State: string(st.State), StateText: st.Full().String(), Tools: st.Tools,
	}
	if cfg.HTTP() {
		r.Kind = "http"
	}
	for _, name := range mcpsetup.SecretNames(cfg) {
		if set.Secrets.Where(cfg.Name, name) == "" {
			r.Missing = append(r.Missing, name)
		}
	}
	return r
}

// target returns the address of a server, or the command that starts it.
func (r serverRow) target() string {
	if r.URL != "" {
		return r.URL
	}
	return strings.Join(append([]string{r.Command}, r.Args...), " ")
}

func (r serversReply) print(o *output) {
	if len(r.Servers) == 0 {
		o.printf("No servers are configured. Add one: contextinfinity mcp servers add NAME -- COMMAND ARGS...\n")
		return
	}
	t := newTable("NAME", "ON", "STATE", "TOOLS", "STARTS", "NEEDS SECRETS").numbers(3)
	for _, s := range r.Servers {
		tools := ""
		if s.State == string(mcpclient.StateReady) {
			tools = count(s.Tools)
		}
		t.add(s.Name, yesNo(s.Enabled), s.State, tools, clip(line(s.target()), 60), strings.Join(s.Missing, ", "))
	}
	t.print(o)
	for _, s := range r.Servers {
		s.printAcceptance(o)
	}
}

// printAcceptance says that models are not offered tools that were not accepted, and the command that accepts them.
func (r serverRow) printAcceptance(o *output) {
	accept := "contextinfinity tools accept " + r.Name
	switch {
	case !r.Enabled:
	case r.Waiting == 1:
		o.printf("%s: 1 tool is not offered to models until you accept it: %s\n", r.Name, accept)
	case r.Waiting > 1:
		o.printf("%s: %s are not offered to models until you accept them: %s\n", r.Name, plural(r.Waiting, "tool"), accept)
	case r.State != string(mcpclient.StateReady) && r.Accepted == 0:
		o.printf("%s: its tools are not offered to models until you accept them: %s\n", r.Name, accept)
	}
}
