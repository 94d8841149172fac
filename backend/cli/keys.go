package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/models"
	"contextinfinity/backend/secrets"
)

func (c *call) keysCommand() *cobra.Command {
	return group("keys", "List, store and remove API keys", c.keysListCommand(), c.keysSetCommand(), c.keysRemoveCommand())
}

// keyRow says where a key is, never what it is.
type keyRow struct {
	Provider string   `json:"provider"`
	Source   string   `json:"source"` // "keyring", "environment", "" for none
	Env      string   `json:"env"`
	BaseURL  string   `json:"base_url"`
	Models   []string `json:"models"`
}

type keysReply struct {
	Keys []keyRow `json:"keys"`
}

func (c *call) keysListCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List where each provider's key comes from; never a key itself", Args: exactly()}
	cmd.RunE = c.run(func(ctx context.Context, _ []string) (reply, error) {
		s, err := c.setup(ctx)
		if err != nil {
			return reply{}, err
		}
		doc := keysReply{Keys: []keyRow{}}
		for _, p := range s.Models.KeyPlaces() {
			doc.Keys = append(doc.Keys, keyRow{
				Provider: p.Name, Source: string(s.Keys.Source(p.Name, p.Env)), Env: p.Env, BaseURL: p.BaseURL,
				Models: append([]string{}, p.Models...),
			})
		}
		return reply{doc: doc, text: doc.print}, nil
	})
	return cmd
}

func (r keysReply) print(o *output) {
	t := newTable("PROVIDER", "KEY", "VARIABLE", "MODELS")
	for _, k := range r.Keys {
		source := k.Source
		if source == "" {
			source = "none"
		}
		t.add(k.Provider, source, k.Env, strings.Join(k.Models, ", "))
	}
	t.print(o)
}

type keyReply struct {
	Provider string `json:"provider"`
	Source   string `json:"source"`
	Tested   bool   `json:"tested"`
	Message  string `json:"message"`
}

func (c *call) keysSetCommand() *cobra.Command {
	var noTest bool
	cmd := &cobra.Command{
		Use:   "set PROVIDER",
		Short: "Store a provider's key in the system's keyring",
		Long: `Reads the key from stdin, hidden at a terminal, never from the arguments, and tries
it with the provider before it is stored. PROVIDER is openai, anthropic, or the host
of a configured server; keys list shows them.`,
		Args: exactly("PROVIDER"),
	}
	cmd.Flags().BoolVar(&noTest, "no-test", false, "store the key without trying it")
	cmd.RunE = c.run(func(ctx context.Context, args []string) (reply, error) {
		s, place, err := c.keyPlace(ctx, args[0])
		if err != nil {
			return reply{}, err
		}
		key, err := c.in.secret(func() { c.note.printf("Key for %s (hidden): ", place.Name) })
		if c.in.terminal {
			c.note.printf("\n")
		}
		if err != nil {
			return reply{}, err
		}
		return s.setKey(ctx, place, key, !noTest)
	})
	cmd.ValidArgsFunction = c.completeKey
	return cmd
}

// keyPlace finds what PROVIDER names.
func (c *call) keyPlace(ctx context.Context, name string) (*Setup, models.KeyPlace, error) {
	s, err := c.setup(ctx)
	if err != nil {
		return nil, models.KeyPlace{}, err
	}
	var names []string
	for _, p := range s.Models.KeyPlaces() {
		if strings.EqualFold(p.Name, name) {
			return s, p, nil
		}
		names = append(names, p.Name)
	}
	return nil, models.KeyPlace{}, usageHint("one of: "+strings.Join(names, ", "), "No model uses a key of %q.", clip(name, 40))
}

func (s *Setup) setKey(ctx context.Context, place models.KeyPlace, key string, test bool) (reply, error) {
	const op = "keys.set"
	if key == "" {
		return reply{}, chat.Errorf(chat.CodeInvalid, op, "No key was given; nothing was stored.").
			WithHint("pipe it in: contextinfinity keys set %s < FILE", place.Name)
	}
	doc := keyReply{Provider: place.Name, Tested: test, Message: "Not tried."}
	if test {
		result := s.Models.Test(ctx, s.protocol(place), key, place.BaseURL)
		if doc.Message = result.Message; !result.OK {
			return reply{}, chat.Errorf(chat.CodeAuth, op, "The key was not stored: %s", line(strings.ReplaceAll(result.Message, key, secrets.Redacted))).
				WithHint("--no-test stores it without trying")
		}
	}
	source, err := s.Keys.Set(place.Name, key)
	if err != nil {
		return reply{}, err
	}
	if doc.Source = string(source); source != secrets.SourceKeyring {
		return reply{}, chat.Errorf(chat.CodeUnavailable, op, "This system has no keyring that answers, so the key could not be kept.").
			WithHint("%s", withoutKeyring(place.Env))
	}
	return reply{doc: doc, text: func(o *output) { o.printf("Stored in the keyring. %s\n", line(doc.Message)) }}, nil
}

func withoutKeyring(env string) string {
	if env == "" {
		return "name a variable in the model's api_key_env and put the key there"
	}
	return "put it into the environment variable " + env + " instead"
}

// protocol is how the server of a key is spoken to.
func (s *Setup) protocol(place models.KeyPlace) string {
	for _, m := range s.Models.List() {
		if m.KeyName() == place.Name {
			return m.Provider
		}
	}
	return place.Name
}

func (c *call) keysRemoveCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "remove PROVIDER", Short: "Remove a provider's key from the keyring", Args: exactly("PROVIDER")}
	cmd.RunE = c.run(func(ctx context.Context, args []string) (reply, error) {
		s, place, err := c.keyPlace(ctx, args[0])
		if err != nil {
			return reply{}, err
		}
		if err := s.Keys.Remove(place.Name); err != nil {
			return reply{}, err
		}
		doc := keyReply{Provider: place.Name, Source: string(s.Keys.Source(place.Name, place.Env)), Message: "Removed."}
		if doc.Source != "" {
			doc.Message = "Removed from the keyring; the variable " + place.Env + " still holds one."
		}
		return reply{doc: doc, text: func(o *output) { o.printf("%s\n", doc.Message) }}, nil
	})
	cmd.ValidArgsFunction = c.completeKey
	return cmd
}
