package cli

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/llm"
	"contextinfinity/backend/models"
)

func modelsVerb() verb {
	return verb{
		use:   "models",
		short: "List the models, their limits, and which can be used",
		long: `Lists the configured models. With --switch-preview, shows instead what sending a conversation to that model
would change: turns that return as originals or are represented by summaries, and whether it needs summarization.
Nothing is changed or sent.`,
		flags: []flag{
			textFlag("switch-preview", "show what switching to this `MODEL` would change"),
			nameFlag("session", "the session that would switch (the one used last)"),
		},
		prepare: func(_ context.Context, r *run) error {
			switch {
			case r.given("switch-preview") && r.text("switch-preview") == "":
				return usageHint("contextinfinity models lists them", "--switch-preview needs the name of a model.")
			case r.given("session") && !r.given("switch-preview"):
				return usagef("--session needs --switch-preview.")
			}
			return nil
		},
		opensFor: opensWith("switch-preview", reads, opensSetup),
		do: func(ctx context.Context, r *run) (reply, error) {
			if r.given("switch-preview") {
				return previewSwitch(ctx, r)
			}
			return modelList(knownModels(ctx, r.setup.Models)), nil
		},
		verbs: offerVerbs(),
	}
}

func offerVerbs() []verb {
	return []verb{
		{
			use:   "list",
			short: "List all models of a provider or server",
			long: `Asks a provider or server for its models, their limits and what they can do. Without --provider it lists the
configured models. The key kept for the provider is sent to it, and nothing else.`,
			flags: []flag{
				textFlag("provider", "one of: contextinfinity models providers"),
				textFlag("search", "only models whose id contains these words"),
			},
			opens: opensSetup,
			do:    listModels,
		},
		{
			use:   "providers",
			short: "List the providers and servers that can be asked for models now",
			long: "Lists providers for which there is a key, servers of configured models, and servers that answer on this " +
				"computer.",
			opens: opensSetup,
			do: func(ctx context.Context, r *run) (reply, error) {
				places := lists.Map(r.setup.Models.Places(ctx), func(p models.Place) models.Preset {
					return models.Preset{ID: p.ID, Name: p.Name, Protocol: p.Protocol, BaseURL: p.BaseURL, Env: p.Env, Local: p.Local}
				})
				return placeList(places), nil
			},
		},
		{
			use:   "presets",
			short: "List the providers and servers that can be added by name",
			do:    func(context.Context, *run) (reply, error) { return placeList(models.Presets()), nil },
		},
		{
			use:   "add MODEL",
			short: "Add a model of a provider or server to the configuration",
			long: `Writes a model into config.toml, with the address and protocol of its provider. MODEL is the provider's id for it;
models list --provider shows them. A model that is already configured is not added again.`,
			flags: []flag{
				textFlag("provider", "one of: contextinfinity models presets, or models providers"),
				textFlag("name", "its name (default: made from its id)"),
			},
			prepare: func(_ context.Context, r *run) error {
				if r.text("provider") == "" {
					return usageHint("contextinfinity models presets lists them", "models add needs --provider.")
				}
				return nil
			},
			opens: opensSetup,
			do: func(ctx context.Context, r *run) (reply, error) {
				added, err := r.setup.Models.Add(ctx, r.setup.Config, r.text("provider"), r.args[0], r.text("name"))
				return sentence(fields{{"name", added}}, "%s", line(added)), err
			},
		},
	}
}

// knownModels asks the servers first, so that it returns the same limits and abilities as the window and
// `models list --provider`.
func knownModels(ctx context.Context, catalog *models.Catalog) []models.Info {
	catalog.Refresh(ctx)
	return catalog.List()
}

func modelList(all []models.Info) reply {
	const headings = "|NAME|PROVIDER|MODEL|>WINDOW|>OUTPUT|LIMITS FROM|>WORKING SET|>IN $/M|>OUT $/M|CAN|USABLE"
	t := tableOf(headings, all, func(m models.Info) []any {
		mark, usable := "", "yes"
		switch {
		case m.Default:
			mark = "*"
		case m.Favourite:
			mark = "+"
		}
		if !m.Usable {
			usable = m.UnusableReason.String()
		}
		in, out := priceColumns(m.Price, m.Priced)
		return []any{
			mark, m.Name, m.Provider, m.ModelID, count(m.Limits.ContextLimit), count(m.Limits.MaxOutput), m.Source, count(m.Ceiling), in, out,
			abilityWords(m.Abilities.Images, m.Abilities.Tools, m.Abilities.Reasoning), usable,
		}
	})
	return reply{doc: fields{{"models", lists.Map(all, modelRow)}}, text: t.print}
}

// modelRow is a configured model; lengths in tokens.
func modelRow(m models.Info) fields {
	return fields{
		{"name", m.Name},
		{"provider", m.Provider},
		{"model_id", m.ModelID},
		{"base_url", m.BaseURL},
		{"context_limit", m.Limits.ContextLimit},
		{"max_output", m.Limits.MaxOutput},
		{"limit_source", m.Source}, // "configured", "table: " and the matched prefix, "server", "unknown window"
		{"ceiling", m.Ceiling},     // the working set the model gets
		{"stream", m.Stream},
		{"usable", m.Usable},
		{"why", m.UnusableReason.String()},
		{"default", m.Default},
		{"built_in", m.BuiltIn},
		{"images", m.Abilities.Images}, // "yes", "no", or "" if unknown
		{"tools", m.Abilities.Tools},
		{"reasoning", m.Abilities.Reasoning},
		{"favourite", m.Favourite},
		{"price,omitempty", priceRow(m.Price, m.Priced)},
	}
}

// priceRow is what a model's tokens cost, per million; nil if unknown.
func priceRow(p models.Price, known bool) fields {
	if !known {
		return nil
	}
	return fields{
		{"input", p.Input},
		{"cached", p.Cached},
		{"output", p.Output},
		{"source", p.Source}, // "configured", "server", or "list " and its day
		{"estimate", p.Estimate()},
	}
}

// priceColumns formats the prices of input and output; an estimate is marked.
func priceColumns(p models.Price, known bool) (in, out string) {
	if !known {
		return "-", "-"
	}
	sign := ""
	if p.Estimate() {
		sign = "~"
	}
	return sign + strconv.FormatFloat(p.Input, 'f', -1, 64), sign + strconv.FormatFloat(p.Output, 'f', -1, 64)
}

// abilityWords describes a model's abilities; "?" if none is known.
func abilityWords(images, tools, reasoning llm.Ability) string {
	var can []string
	for i, ability := range []llm.Ability{images, tools, reasoning} {
		if ability == llm.AbilityYes {
			can = append(can, []string{"images", "tools", "reasoning"}[i])
		}
	}
	switch {
	case len(can) > 0:
		return strings.Join(can, ", ")
	case images+tools+reasoning == "":
		return "?"
	}
	return "text"
}

func listModels(ctx context.Context, r *run) (reply, error) {
	provider, words := r.text("provider"), r.text("search")
	if provider == "" {
		lacks := func(m models.Info) bool { return !containsWords(m.Name+" "+m.ModelID, words) }
		return modelList(slices.DeleteFunc(knownModels(ctx, r.setup.Models), lacks)), nil
	}
	offers, err := r.setup.Models.Offers(ctx, provider)
	offers = slices.DeleteFunc(offers, func(o models.Offer) bool { return !containsWords(o.ID, words) })
	t := tableOf("MODEL|>WINDOW|>OUTPUT|>IN $/M|>OUT $/M|CAN|CONFIGURED AS", offers, func(o models.Offer) []any {
		in, out := priceColumns(o.Price, o.Priced)
		window, output := cmp.Or(count(o.Window), "?"), cmp.Or(count(o.MaxOutput), "?")
		return []any{o.ID, window, output, in, out, abilityWords(o.Images, o.Tools, o.Reasoning), o.Configured}
	})
	return reply{doc: fields{{"provider", provider}, {"models", lists.Map(offers, offerRow)}}, text: t.print}, err
}

// offerRow is a model that a provider offers.
func offerRow(o models.Offer) fields {
	return fields{
		{"model_id", o.ID},
		{"configured", o.Configured}, // the name of the configured model for it, or ""
		{"context_limit", o.Window},
		{"max_output", o.MaxOutput},
		{"images", o.Images},
		{"tools", o.Tools},
		{"reasoning", o.Reasoning},
		{"price,omitempty", priceRow(o.Price, o.Priced)},
	}
}

// containsWords reports whether a text contains all words, in any order, ignoring case.
func containsWords(text, words string) bool {
	for word := range strings.FieldsSeq(strings.ToLower(words)) {
		if !strings.Contains(strings.ToLower(text), word) {
			return false
		}
	}
	return true
}

func placeList(all []models.Preset) reply {
	t := tableOf("PROVIDER|NAME|PROTOCOL|ADDRESS|KEY VARIABLE", all, func(p models.Preset) []any {
		return []any{p.ID, p.Name, p.Protocol, cmp.Or(p.BaseURL, "its own"), p.Env}
	})
	doc := fields{{"providers", lists.Map(all, func(p models.Preset) fields {
		return fields{
			{"id", p.ID},
			{"name", p.Name},
			{"protocol", p.Protocol},
			{"base_url", p.BaseURL},
			{"env", p.Env},
			{"local", p.Local},
			{"note,omitempty", p.Note},
		}
	})}}
	return reply{doc: doc, text: func(o *output) {
		t.printOr(o, "There is no provider with a key, and no model server answers on this computer.")
		for _, p := range all {
			o.printIf(p.Note != "", "%s: %s\n", p.Name, p.Note)
		}
	}}
}

// previewSwitch shows the effect of sending a conversation to another model.
func previewSwitch(ctx context.Context, r *run) (reply, error) {
	model := r.text("switch-preview")
	b, err := r.branchOrLast(ctx)
	if err == nil && b.ID == "" {
		err = chat.Errorf(chat.CodeNotFound, "cli.models", "There is no session to switch.").
			WithHint("start one with send or chat")
	}
	if err != nil {
		return reply{}, err
	}
	x, err := r.s.Turns.PreviewSwitch(ctx, b.ID, "", model)
	doc := append(aboutBranch(b, "model", model), fields{
		{"kind", x.Kind},
		{"old_ceiling", x.From},
		{"new_ceiling", x.To},
		{"old_tokens", x.OldTokens},
		{"new_tokens", x.NewTokens},
		{"returning", x.Returning},
		{"compressed", x.Compressed},
		{"needs_summarization", x.NeedsSummarization()},
		{"unsummarized", x.Unsummarized},
		{"dropped", x.Dropped},     // pending turns left out
		{"fits", x.Refused == nil}, // false: message says why not
		{"message", x.String()},
	}...)
	return sentence(doc, "Now %s of %s tokens; with %s %s of %s.\n%s", count(x.OldTokens), count(x.From),
		line(model), count(x.NewTokens), count(x.To), line(x.String())), err
}
