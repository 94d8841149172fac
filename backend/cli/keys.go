package cli

import (
	"cmp"
	"context"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/models"
	"contextinfinity/backend/secrets"
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

func listKeys(_ context.Context, r *run) (reply, error) {
	all := r.setup.Models.KeySources()
	where := func(k models.KeySource) string { return r.setup.Keys.Where(k.Name, k.Env) }
	t := tableOf("PROVIDER|KEY|VARIABLE|MODELS", all, func(k models.KeySource) []any {
		return []any{k.Name, cmp.Or(where(k), "none"), k.Env, strings.Join(k.Models, ", ")}
	})
	rows := lists.Map(all, func(k models.KeySource) fields {
		return fields{{"provider", k.Name}, {"source", where(k)}, {"env", k.Env}, {"models", k.Models}}
	})
	return reply{doc: fields{{"keys", rows}}, text: t.print}, nil
}

// key finds the key that PROVIDER names.
func (r *run) key() (models.KeySource, error) {
	var names []string
	for _, k := range r.setup.Models.KeySources() {
		if strings.EqualFold(k.Name, r.args[0]) {
			return k, nil
		}
		names = append(names, k.Name)
	}
	return models.KeySource{}, usageHint("one of: "+strings.Join(names, ", "), "No model uses a key of %q.", clip(r.args[0], 40))
}

func setKey(ctx context.Context, r *run) (reply, error) {
	const op = "keys.set"
	place, err := r.key()
	if err != nil {
		return reply{}, err
	}
	key, err := r.secret("Key for " + place.Name)
	if err != nil {
		return reply{}, err
	}
	if key == "" {
		return reply{}, chat.Errorf(chat.CodeInvalid, op, "No key was given; nothing was stored.").
			WithHint("pipe it in: contextinfinity keys set %s < FILE", place.Name)
	}
	if why := models.Misplaced(place.Name, key); !why.IsZero() {
		return reply{}, chat.Errorf(chat.CodeInvalid, op, "%s", why)
	}
	message := "Not tried."
	if !r.on("no-test") {
		result := r.setup.Models.Test(ctx, place.Name, key, "")
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
	_, err = r.setup.StoreKey(place.Name, key)
	doc := fields{{"provider", place.Name}, {"tested", !r.on("no-test")}, {"message", message}}
	return sentence(doc, "Stored in the keyring. %s", line(message)), err
}

// refusedKey explains why a key was not stored. It is redacted, because a provider may have repeated the key.
func refusedKey(message, key string) error {
	reason := line(strings.ReplaceAll(message, key, "[redacted]"))
	return chat.Errorf(chat.CodeAuth, "keys.set", "The key was not stored: %s", reason).
		WithHint("--no-test stores it without trying")
}

func removeKey(_ context.Context, r *run) (reply, error) {
	place, err := r.key()
	if err != nil {
		return reply{}, err
	}
	message := "Removed from the keyring."
	if place.Env != "" && secrets.Getenv(place.Env) != "" {
		message += " The variable " + place.Env + " still holds one."
	}
	doc := fields{{"provider", place.Name}, {"tested", false}, {"message", message}}
	return sentence(doc, "%s", message), r.setup.RemoveKey(place.Name)
}

// secret reads a secret from stdin, hidden at a terminal.
func (c *call) secret(subject string) (string, error) {
	text, err := c.in.secret(func() { c.note.printf("%s (hidden): ", subject) })
	if c.in.terminal {
		c.note.printf("\n")
	}
	return text, err
}
