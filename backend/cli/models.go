package cli

import (
	"context"

	"github.com/spf13/cobra"
)

type modelsReply struct {
	Models []ModelInfo `json:"models"`
}

func (c *call) modelsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "models", Short: "List the models, their limits, and which can be used", Args: exactly(),
		Long: "Lists the configured models. With --switch-preview, shows instead what sending a conversation to that model\n" +
			"would change: turns that return as originals or are represented by summaries, and whether it needs summarization.\n" +
			"Nothing is changed or sent.",
	}
	preview := cmd.Flags().String("switch-preview", "", "show what switching to this `MODEL` would change")
	session := cmd.Flags().String("session", "", "the session that would switch (the one used last)")
	cmd.AddCommand(c.modelsListCommand(), c.modelsProvidersCommand(), c.modelsPresetsCommand(), c.modelsAddCommand())
	_ = cmd.RegisterFlagCompletionFunc("session", c.completeSession)
	cmd.RunE = c.run(func(ctx context.Context, _ []string) (reply, error) {
		if cmd.Flags().Changed("switch-preview") {
			if *preview == "" {
				return reply{}, usageHint("contextinfinity models lists them", "--switch-preview needs the name of a model.")
			}
			return c.previewSwitch(ctx, *session, *preview)
		}
		if *session != "" {
			return reply{}, usagef("--session needs --switch-preview.")
		}
		setup, err := c.setup(ctx)
		if err != nil {
			return reply{}, err
		}
		all, err := setup.Models.List(ctx)
		doc := modelsReply{append([]ModelInfo{}, all...)}
		return reply{doc: doc, text: doc.print}, err
	})
	return cmd
}

// setup opens what needs no database, and reports it if the configuration in effect is not that of the file.
func (c *call) setup(ctx context.Context) (*Setup, error) {
	s, err := c.app.OpenSetup(ctx, c.options(true, silent{}))
	if err != nil {
		return nil, err
	}
	c.noteConfig(s.Config.Err(), s.Config.Config().Retired)
	return s, nil
}

func (r modelsReply) print(o *output) {
	t := newTable("", "NAME", "PROVIDER", "MODEL", "WINDOW", "OUTPUT", "LIMITS FROM", "WORKING SET", "IN $/M", "OUT $/M", "CAN", "USABLE").numbers(4, 5, 7, 8, 9)
	for _, m := range r.Models {
		mark, usable := "", "yes"
		switch {
		case m.Default:
			mark = "*"
		case m.Favourite:
			mark = "+"
		}
		if !m.Usable {
			usable = m.Why
		}
		in, out := m.Price.columns()
		t.add(mark, m.Name, m.Provider, m.ModelID, count(m.Window), count(m.Output), m.Source, count(m.Ceiling), in, out, abilityWords(m.Images, m.Tools, m.Reasoning), usable)
	}
	t.print(o)
}
