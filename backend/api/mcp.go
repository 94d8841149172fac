package api

import (
	"context"
	"strings"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/mcpclient"
	"contextinfinity/backend/mcpsetup"
	"contextinfinity/backend/services"
)

// Servers manages the MCP servers: their configuration, their state, and their prompts and resources. Every change,
// including questions of servers, is published as chat.ChangeServers.
type Servers struct{ c *Core }

// NewServers returns the service.
func NewServers(c *Core) *Servers { return &Servers{c} }

// How long the window waits for a server to start, and for a response to a request.
const (
	serverStartTimeout = 2 * time.Minute
	serverCallTimeout  = time.Minute
)

// Servers returns the page about servers.
func (s *Servers) Servers() (ServersPanel, error) {
	v := ServersPanel{Rev: s.c.Hub.Rev()}
	p := s.c.Servers
	v.Mode, v.KeyringOK = s.c.Config.Config().Tools.Mode, s.c.Keys.KeyringOK()
	v.Servers = lists.Map(p.Manager.Statuses(), func(st mcpclient.Status) ServerView { return serverView(p, st) })
	return v, nil
}

func serverView(p services.Servers, st mcpclient.Status) ServerView {
	cfg := st.Config
	v := ServerView{
		Name: cfg.Name, Kind: "stdio", Enabled: cfg.Enabled, State: st.State, StateText: st.StateText, LastError: st.LastError,
		RetryAt: ms(st.RetryAt), StartedAt: ms(st.StartedAt), Title: st.Title, Version: st.Version, Protocol: st.Protocol,
		Instructions: st.Instructions, Tools: st.Tools, Prompts: st.Prompts, Resources: st.Resources, Problems: []ServerProblemView{},
		Settings: mcpsetup.SettingsOf(cfg),
	}
	if cfg.HTTP() {
		v.Kind, v.SignedIn = "http", p.Manager.SignedIn(cfg.Name)
	}
	for _, problem := range st.Problems {
		v.Problems = append(v.Problems, ServerProblemView{Subject: problem.Tool, Message: problem.Message})
	}
	v.Secrets = lists.Map(mcpsetup.SecretNames(cfg), func(name string) ServerSecretView {
		return ServerSecretView{Name: name, StoredIn: p.Setup.Secrets.Where(cfg.Name, name)}
	})
	return v
}

// trimmed returns settings as entered, without the space around single values.
func trimmed(v ServerSettings) ServerSettings {
	for _, text := range []*string{&v.Name, &v.Command, &v.Cwd, &v.URL, &v.OAuthClientID} {
		*text = strings.TrimSpace(*text)
	}
	return v
}

// edit applies a change of the configuration and returns the resulting page. While tools are on, a new server is
// started at once, because its tools can be accepted only once they are known.
func (s *Servers) edit(change func(services.Servers) error) (ServersPanel, error) {
	if err := change(s.c.Servers); err != nil {
		return ServersPanel{Servers: []ServerView{}}, err
	}
	s.c.WarmServers()
	s.c.Hub.Change(chat.Change{Kind: chat.ChangeServers})
	return s.Servers()
}

// AddServer configures a server; a name that is taken is rejected.
func (s *Servers) AddServer(v ServerSettings) (ServersPanel, error) {
	return s.edit(func(p services.Servers) error { return p.Setup.Add(trimmed(v)) })
}

// UpdateServer changes the server with this name, and may rename it.
func (s *Servers) UpdateServer(name string, v ServerSettings) (ServersPanel, error) {
	return s.edit(func(p services.Servers) error {
		if err := p.Setup.Update(name, trimmed(v)); err != nil {
			return err
		}
		p.Manager.Reset(strings.TrimSpace(v.Name)) // a changed secret does not change the settings
		return nil
	})
}

// RemoveServer stops a server and removes it from the configuration, with its secrets.
func (s *Servers) RemoveServer(name string) (ServersPanel, error) {
	return s.edit(func(p services.Servers) error { return p.Setup.Remove(name) })
}

// EnableServer switches a server on or off.
func (s *Servers) EnableServer(name string, on bool) (ServersPanel, error) {
	return s.edit(func(p services.Servers) error { return p.Setup.Enable(name, on) })
}

// Restart restarts a server at once, and returns when it is ready or has failed. The outcome of its running calls is
// then unknown.
func (s *Servers) Restart(name string) (ServersPanel, error) {
	return s.edit(func(p services.Servers) error {
		ctx, cancel := context.WithTimeout(s.c.ctx(), serverStartTimeout)
		defer cancel()
		return p.Manager.Restart(ctx, name)
	})
}

// Logs returns the last lines of a server's log.
func (s *Servers) Logs(name string) (ServerLog, error) {
	lines, dropped, err := s.c.Servers.Manager.Logs(name)
	return ServerLog{Name: name, Lines: lines, Dropped: dropped}, err
}

// Import reads a pasted configuration of another program. Nothing is added before ApplyImport.
func (s *Servers) Import(text string) (ServerImport, error) {
	return s.read(func(p services.Servers) (*mcpsetup.Import, error) { return p.Setup.Read(text) })
}

// ImportFile reads a configuration, or a bundle (.mcpb), from a file that the user chose or dropped.
func (s *Servers) ImportFile(path string) (ServerImport, error) {
	return s.read(func(p services.Servers) (*mcpsetup.Import, error) { return p.Setup.ReadFile(path) })
}

func (s *Servers) read(read func(services.Servers) (*mcpsetup.Import, error)) (ServerImport, error) {
	v := ServerImport{Servers: []ImportedServer{}, Problems: []string{}}
	p := s.c.Servers
	in, err := read(p)
	if err != nil {
		return v, err
	}
	v.ID, v.From, v.Problems = in.ID, in.From, append(v.Problems, in.Problems...)
	for _, c := range in.Servers {
		server := ImportedServer{
			Settings: c.Settings, Original: c.Original, Exists: p.Setup.Exists(c.Settings.Name), About: c.About,
			Notes: append([]string{}, c.Notes...), Questions: []ServerQuestion{},
		}
		_, server.Exposures = c.Preview(nil)
		for _, q := range c.Questions {
			view := ServerQuestion{
				Key: q.Key, Title: q.Title, Description: q.Description, Type: q.Type, Required: q.Required, Secret: q.Secret,
				Multiple: q.Multiple, Default: q.Default, Known: q.Default != "", Choices: append([]string{}, q.Choices...),
			}
			if q.Secret {
				view.Default = "" // the value is in the import, and stays in this process
			}
			server.Questions = append(server.Questions, view)
		}
		v.Servers = append(v.Servers, server)
	}
	return v, nil
}

// ApplyImport adds the named servers of an import, all or none.
func (s *Servers) ApplyImport(choice ServerImportChoice) (ServersPanel, error) {
	return s.edit(func(p services.Servers) error {
		var choices []mcpsetup.Choice
		for _, c := range choice.Servers {
			choices = append(choices, mcpsetup.Choice{
				Original: c.Original,
				Name:     strings.TrimSpace(c.Name),
				Enabled:  c.Enabled,
				Replace:  c.Replace,
				Answers:  byName(c.Answers),
				Accepted: c.Accepted,
				Keys:     c.Keys,
			})
		}
		if err := p.Setup.Apply(choice.ID, choices); err != nil {
			return err
		}
		for _, c := range choices {
			p.Manager.Reset(c.Name)
		}
		return nil
	})
}

func byName(values []ServerValue) map[string]string {
	out := map[string]string{}
	for _, v := range values {
		out[v.Name] = v.Value
	}
	return out
}

// SetSecret stores a secret mentioned in a server's settings; an empty value removes it. It takes effect when the
// server is started.
func (s *Servers) SetSecret(server, name, value string) (ServersPanel, error) {
	return s.edit(func(p services.Servers) error {
		err := p.Setup.SetSecret(server, name, value)
		if err == nil {
			p.Manager.Reset(server)
		}
		return err
	})
}

// SignIn opens a server's sign-in page and waits until the user is done.
func (s *Servers) SignIn(name string) (ServersPanel, error) {
	return s.edit(func(p services.Servers) error { return p.Manager.SignIn(s.c.ctx(), name) })
}

// SignOut removes the stored tokens of a server.
func (s *Servers) SignOut(name string) (ServersPanel, error) {
	return s.edit(func(p services.Servers) error { return p.Manager.SignOut(name) })
}

func (s *Servers) callContext() (context.Context, context.CancelFunc) {
	return context.WithTimeout(s.c.ctx(), serverCallTimeout)
}

// Prompts lists the prompts that servers offer. It starts enabled servers.
func (s *Servers) Prompts() (ServerPrompts, error) {
	ctx, cancel := s.callContext()
	defer cancel()
	return ServerPrompts{Rev: s.c.Hub.Rev(), Prompts: s.c.Servers.Manager.Prompts(ctx)}, nil
}

// GetPrompt returns a prompt with its arguments filled in.
func (s *Servers) GetPrompt(server, name string, args []ServerValue) (PromptText, error) {
	v := PromptText{Server: server, Name: name}
	p := s.c.Servers
	ctx, cancel := s.callContext()
	defer cancel()
	r, err := p.Manager.GetPrompt(ctx, server, name, byName(args))
	v.Description = r.Description
	v.Messages = lists.Map(r.Messages, func(m mcpclient.PromptMessage) PromptMessageView {
		return PromptMessageView{Role: m.Role, Blocks: blockViews(m.Blocks)}
	})
	return v, err
}

// Resources lists the resources that servers offer. It starts enabled servers.
func (s *Servers) Resources() (ServerResources, error) {
	ctx, cancel := s.callContext()
	defer cancel()
	return ServerResources{Rev: s.c.Hub.Rev(), Resources: s.c.Servers.Manager.Resources(ctx)}, nil
}

// ReadResource returns the current content of a resource.
func (s *Servers) ReadResource(server, uri string) (ResourceText, error) {
	v := ResourceText{Server: server, URI: uri, Blocks: []BlockView{}}
	p := s.c.Servers
	ctx, cancel := s.callContext()
	defer cancel()
	blocks, err := p.Manager.ReadResource(ctx, server, uri)
	if len(blocks) > 0 {
		v.Blocks = blockViews(blocks)
	}
	return v, err
}

// Elicitations returns the open questions of servers.
func (s *Servers) Elicitations() (Elicitations, error) {
	return Elicitations{Rev: s.c.Hub.Rev(), Pending: s.c.Servers.Questions.List()}, nil
}

// AnswerElicitation answers a question. An incomplete answer is rejected, and the question stays open.
func (s *Servers) AnswerElicitation(a ElicitationAnswer) (Elicitations, error) {
	values := map[string][]string{}
	for _, v := range a.Values {
		values[v.Name] = v.Values
	}
	if err := s.c.Servers.Questions.Answer(a.ID, mcpclient.Answer{Action: a.Action, Values: values}); err != nil {
		return Elicitations{}, err
	}
	return s.Elicitations()
}
