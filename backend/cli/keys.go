package cli

import (
	"cmp"
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

type keysReply struct {
	Keys []KeyInfo `json:"keys"`
}

func (c *call) keysListCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List where each provider's key comes from; never a key itself", Args: exactly()}
	cmd.RunE = c.run(func(ctx context.Context, _ []string) (reply, error) {
		s, err := c.setup(ctx)
		if err != nil {
			return reply{}, err
		}
		all, err := s.Keys.List(ctx)
		doc := keysReply{append([]KeyInfo{}, all...)}
		return reply{doc: doc, text: doc.print}, err
	})
	return cmd
}

func (r keysReply) print(o *output) {
	t := newTable("PROVIDER", "KEY", "VARIABLE", "MODELS")
	for _, k := range r.Keys {
		source := cmp.Or(k.Source, "none")
		t.add(k.Provider, source, k.Env, strings.Join(k.Models, ", "))
	}
	t.print(o)
}

type keyReply struct {
	Provider string `json:"provider"`
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
		key, err := c.in.secret(func() { c.note.printf("Key for %s (hidden): ", place.Provider) })
		if c.in.terminal {
			c.note.printf("\n")
		}
		if err != nil {
			return reply{}, err
		}
		return s.setKey(ctx, place.Provider, key, !noTest)
	})
	cmd.ValidArgsFunction = c.completeKey
	return cmd
}

// keyPlace finds the key that PROVIDER names.
func (c *call) keyPlace(ctx context.Context, name string) (*Setup, KeyInfo, error) {
	s, err := c.setup(ctx)
	if err != nil {
		return nil, KeyInfo{}, err
	}
	all, err := s.Keys.List(ctx)
	if err != nil {
		return nil, KeyInfo{}, err
	}
	var names []string
	for _, k := range all {
		if strings.EqualFold(k.Provider, name) {
			return s, k, nil
		}
		names = append(names, k.Provider)
	}
	return nil, KeyInfo{}, usageHint("one of: "+strings.Join(names, ", "), "No model uses a key of %q.", clip(name, 40))
}

func (s *Setup) setKey(ctx context.Context, provider, key string, test bool) (reply, error) {
	const op = "keys.set"
	if key == "" {
		return reply{}, chat.Errorf(chat.CodeInvalid, op, "No key was given; nothing was stored.").
			WithHint("pipe it in: contextinfinity keys set %s < FILE", provider)
	}
	if why := models.Misplaced(provider, key); !why.IsZero() {
		return reply{}, chat.Errorf(chat.CodeInvalid, op, "%s", why)
	}
	doc := keyReply{Provider: provider, Tested: test, Message: "Not tried."}
	if test {
		message, err := s.Models.Test(ctx, provider, key)
		if err != nil {
			return reply{}, refusedKey(err, key)
		}
		doc.Message = message
	}
	if err := s.Keys.Set(ctx, provider, key); err != nil {
		return reply{}, err
	}
	return reply{doc: doc, text: func(o *output) { o.printf("Stored in the keyring. %s\n", line(doc.Message)) }}, nil
}

// refusedKey explains why a key was not stored. It is redacted, because a provider may have repeated the key.
func refusedKey(err error, key string) error {
	e := chat.AsError(err)
	reason := line(strings.ReplaceAll(e.Message, key, "[redacted]"))
	return chat.Errorf(e.Code, "keys.set", "The key was not stored: %s", reason).WithHint("--no-test stores it without trying")
}

func (c *call) keysRemoveCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "remove PROVIDER", Short: "Remove a provider's key from the keyring", Args: exactly("PROVIDER")}
	cmd.RunE = c.run(func(ctx context.Context, args []string) (reply, error) {
		s, place, err := c.keyPlace(ctx, args[0])
		if err != nil {
			return reply{}, err
		}
		if err := s.Keys.Remove(ctx, place.Provider); err != nil {
			return reply{}, err
		}
		doc := keyReply{Provider: place.Provider, Message: "Removed from the keyring."}
		if place.Env != "" && secrets.Getenv(place.Env) != "" {
			doc.Message += " The variable " + place.Env + " still holds one."
		}
		return reply{doc: doc, text: func(o *output) { o.printf("%s\n", doc.Message) }}, nil
	})
	cmd.ValidArgsFunction = c.completeKey
	return cmd
}
