package cli

import (
	"context"

	"github.com/spf13/cobra"

	"contextinfinity/backend/models"
)

// modelRow is a line of models; lengths in tokens.
type modelRow struct {
	Name     string `json:"name"`
	Provider string `json:"provider"`
	ModelID  string `json:"model_id"`
	BaseURL  string `json:"base_url"`
	Window   int    `json:"context_limit"`
	Output   int    `json:"max_output"`
	Source   string `json:"limit_source"`
	Ceiling  int    `json:"ceiling"`
	Stream   bool   `json:"stream"`
	Usable   bool   `json:"usable"`
	Why      string `json:"why"`
	Default  bool   `json:"default"`
	BuiltIn  bool   `json:"built_in"`
}

type modelsReply struct {
	Models []modelRow `json:"models"`
}

func (c *call) modelsCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "models", Short: "List the models, their limits, and which can be used", Args: exactly()}
	cmd.RunE = c.run(func(ctx context.Context, _ []string) (reply, error) {
		setup, err := c.setup(ctx)
		if err != nil {
			return reply{}, err
		}
		doc := modelsReply{modelRows(setup.Models.List())}
		return reply{doc: doc, text: doc.print}, nil
	})
	return cmd
}

// setup opens what needs no database, and says so when the configuration that is
// in force is not what the file says.
func (c *call) setup(ctx context.Context) (*Setup, error) {
	s, err := c.app.OpenSetup(ctx, c.options(true, silent{}))
	if err != nil {
		return nil, err
	}
	if fault := s.Config.Err(); fault != nil {
		c.notef("the configuration file has an error and the defaults hold: %s", line(c.describe(fault).Message))
	}
	return s, nil
}

func modelRows(infos []models.Info) []modelRow {
	rows := make([]modelRow, len(infos))
	for i, m := range infos {
		rows[i] = modelRow{
			Name: m.Name, Provider: m.Provider, ModelID: m.ModelID, BaseURL: m.BaseURL,
			Window: m.Limits.ContextLimit, Output: m.Limits.MaxOutput, Source: m.Source, Ceiling: m.Ceiling,
			Stream: m.Stream, Usable: m.Usable, Why: m.Why, Default: m.Default, BuiltIn: m.BuiltIn,
		}
	}
	return rows
}

func (r modelsReply) print(o *output) {
	t := newTable("", "NAME", "PROVIDER", "MODEL", "WINDOW", "OUTPUT", "LIMITS FROM", "WORKING SET", "USABLE").numbers(4, 5, 7)
	for _, m := range r.Models {
		mark, usable := "", "yes"
		if m.Default {
			mark = "*"
		}
		if !m.Usable {
			usable = m.Why
		}
		t.add(mark, m.Name, m.Provider, m.ModelID, count(m.Window), count(m.Output), m.Source, count(m.Ceiling), usable)
	}
	t.print(o)
}
