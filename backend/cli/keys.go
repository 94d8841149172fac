package cli

import (
	"cmp"
	"context"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/models"
	"contextinfinity/backend/secrets"
	"contextinfinity/backend/services"
)

func keysVerb() verb {
	return verb{
		use:   "keys",
		short: "API keys, and the key of sealed data",
		verbs: append([]verb{
			{
				use:   "list",
				short: "List where each provider's key comes from; never a key itself",
				opens: opensSetup,
				do:    listKeys,
			},
			{
				use:   "set PROVIDER",
				short: "Store a provider's key in the system's keyring",
				long: `Reads the key from stdin, hidden at a terminal, never from the arguments, and tries
it with the provider before it is stored. PROVIDER is openai, anthropic, or the host
of a configured server; keys list shows them.`,
				flags: []flag{boolFlag("no-test", "store the key without trying it")},
				opens: opensSetup,
				do:    setKey,
			},
			{
				use:   "remove PROVIDER",
				short: "Remove a provider's key from the keyring",
				opens: opensSetup,
				do:    removeKey,
			},
		}, keyVerbs()...),
	}
}

// keyInfos returns where each provider's key comes from.
func keyInfos(s *services.Setup) []KeyInfo {
	return lists.Map(s.Models.KeySources(), func(p models.KeySource) KeyInfo {
		return KeyInfo{
			Provider: p.Name,
			Env:      p.Env,
			Source:   s.Keys.Where(p.Name, p.Env),
			Models:   append([]string{}, p.Models...),
		}
	})
}

func listKeys(_ context.Context, r *run) (reply, error) {
	all := append([]KeyInfo{}, keyInfos(r.setup)...)
	t := tableOf("PROVIDER|KEY|VARIABLE|MODELS", all, func(k KeyInfo) []any {
		return []any{k.Provider, cmp.Or(k.Source, "none"), k.Env, strings.Join(k.Models, ", ")}
	})
	return reply{doc: fields{{"keys", all}}, text: t.print}, nil
}

// keyInfo finds the key that PROVIDER names.
func (r *run) keyInfo() (KeyInfo, error) {
	var names []string
	for _, k := range keyInfos(r.setup) {
		if strings.EqualFold(k.Provider, r.args[0]) {
			return k, nil
		}
		names = append(names, k.Provider)
	}
	return KeyInfo{}, usageHint("one of: "+strings.Join(names, ", "), "No model uses a key of %q.", clip(r.args[0], 40))
}

func setKey(ctx context.Context, r *run) (reply, error) {
	const op = "keys.set"
	place, err := r.keyInfo()
	if err != nil {
		return reply{}, err
	}
	key, err := r.secret("Key for " + place.Provider)
	if err != nil {
		return reply{}, err
	}
	if key == "" {
		return reply{}, chat.Errorf(chat.CodeInvalid, op, "No key was given; nothing was stored.").
			WithHint("pipe it in: contextinfinity keys set %s < FILE", place.Provider)
	}
	if why := models.Misplaced(place.Provider, key); !why.IsZero() {
		return reply{}, chat.Errorf(chat.CodeInvalid, op, "%s", why)
	}
	message := "Not tried."
	if !r.on("no-test") {
		result := r.setup.Models.Test(ctx, place.Provider, key, "")
		if !result.OK {
			return reply{}, refusedKey(result.Message.String(), key)
		}
		message = result.Message.String()
	}
	if !r.setup.Keys.KeyringOK() { // a key that is kept for this run only would be lost when the verb ends
		variable := cmp.Or(place.Env, "the variable that the model's api_key_env names")
		return reply{}, chat.Errorf(chat.CodeUnavailable, op, "No keyring is available on this system, so the key was not stored.").
			WithHint("set it in the environment instead: %s", variable)
	}
	_, err = r.setup.StoreKey(place.Provider, key)
	doc := fields{{"provider", place.Provider}, {"tested", !r.on("no-test")}, {"message", message}}
	return sentence(doc, "Stored in the keyring. %s", line(message)), err
}

// refusedKey explains why a key was not stored. It is redacted, because a provider may have repeated the key.
func refusedKey(message, key string) error {
	reason := line(strings.ReplaceAll(message, key, "[redacted]"))
	return chat.Errorf(chat.CodeAuth, "keys.set", "The key was not stored: %s", reason).
		WithHint("--no-test stores it without trying")
}

func removeKey(_ context.Context, r *run) (reply, error) {
	place, err := r.keyInfo()
	if err != nil {
		return reply{}, err
	}
	message := "Removed from the keyring."
	if place.Env != "" && secrets.Getenv(place.Env) != "" {
		message += " The variable " + place.Env + " still holds one."
	}
	doc := fields{{"provider", place.Provider}, {"tested", false}, {"message", message}}
	return sentence(doc, "%s", message), r.setup.RemoveKey(place.Provider)
}

// secret reads a secret from stdin, hidden at a terminal.
func (c *call) secret(subject string) (string, error) {
	text, err := c.in.secret(func() { c.note.printf("%s (hidden): ", subject) })
	if c.in.terminal {
		c.note.printf("\n")
	}
	return text, err
}
