package cli

import (
	"context"

	"github.com/spf13/cobra"

	"contextinfinity/backend/config"
	"contextinfinity/backend/internal/lists"
)

func (c *call) configCommand() *cobra.Command {
	return group("config", "Show, check and change the configuration",
		c.configPathCommand(), c.configShowCommand(), c.configCheckCommand(), c.configSetCommand(), c.configResetCommand())
}

type configPathReply struct {
	Path    string `json:"path"`
	DataDir string `json:"data_dir"`
}

func (c *call) configPathCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "path", Short: "Print the path of the configuration file, whether it exists or not", Args: exactly()}
	cmd.RunE = c.run(func(ctx context.Context, _ []string) (reply, error) {
		s, err := c.app.OpenSetup(ctx, c.options(true, silent{}))
		if err != nil {
			return reply{}, err
		}
		doc := configPathReply{s.Config.Path(), s.Config.Config().DataDir}
		return reply{doc: doc, text: func(o *output) { o.printf("%s\n", doc.Path) }}, nil
	})
	return cmd
}

// settingRow is a key of the configuration with its value in effect.
type settingRow struct {
	Key     string `json:"key"`
	Value   string `json:"value"`
	Default string `json:"default"`
	Origin  string `json:"origin"`
	Unit    string `json:"unit"`
	Help    string `json:"help"`
}

type configReply struct {
	Path     string       `json:"path"`
	DataDir  string       `json:"data_dir"`
	Settings []settingRow `json:"settings"`
}

func (c *call) configShowCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "show", Short: "Print every setting in effect and where it comes from", Args: exactly()}
	cmd.RunE = c.run(func(ctx context.Context, _ []string) (reply, error) {
		s, err := c.setup(ctx)
		if err != nil {
			return reply{}, err
		}
		doc := configReply{Path: s.Config.Path(), DataDir: s.Config.Config().DataDir, Settings: lists.Map(s.Config.Config().Settings(), settingRowOf)}
		return reply{doc: doc, text: doc.print}, nil
	})
	return cmd
}

func settingRowOf(i config.SettingInfo) settingRow {
	return settingRow{Key: i.Key, Value: i.Value, Default: i.Default, Origin: i.Origin, Unit: i.Unit, Help: i.Help}
}

func (r configReply) print(o *output) {
	o.printf("file  %s\ndata  %s\n\n", line(r.Path), line(r.DataDir))
	t := newTable("SETTING", "VALUE", "UNIT", "FROM")
	for _, s := range r.Settings {
		t.add(s.Key, clip(s.Value, 60), s.Unit, s.Origin)
	}
	t.print(o)
}

type configCheckReply struct {
	Path    string   `json:"path"`
	OK      bool     `json:"ok"`
	Retired []string `json:"retired,omitempty"` // lines that no longer have an effect
}

func (c *call) configCheckCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "check", Short: "Check the configuration file and report every error by line and key", Args: exactly()}
	cmd.RunE = c.run(func(ctx context.Context, _ []string) (reply, error) {
		s, err := c.app.OpenSetup(ctx, c.options(true, silent{}))
		if err != nil {
			return reply{}, err
		}
		fault := s.Config.Err()
		doc := configCheckReply{s.Config.Path(), fault == nil, s.Config.Config().Retired}
		if fault != nil {
			return reply{doc: doc, keepOnError: true}, fault
		}
		return reply{doc: doc, text: func(o *output) {
			for _, notice := range doc.Retired {
				o.printf("%s\n", line(notice))
			}
			o.printf("No faults: %s\n", line(doc.Path))
		}}, nil
	})
	return cmd
}

type configSetReply struct {
	Path    string     `json:"path"`
	Setting settingRow `json:"setting"`
}

func (c *call) configSetCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "set KEY VALUE", Short: "Change a setting; the rest of the file does not change", Args: exactly("KEY", "VALUE")}
	cmd.RunE = c.run(func(ctx context.Context, args []string) (reply, error) {
		return c.edit(ctx, args[0], func(s *config.Store) error { return s.Set(args[0], args[1]) })
	})
	cmd.ValidArgsFunction = completeSetting
	return cmd
}

func (c *call) configResetCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "reset KEY", Short: "Reset a setting to its default", Args: exactly("KEY")}
	cmd.RunE = c.run(func(ctx context.Context, args []string) (reply, error) {
		return c.edit(ctx, args[0], func(s *config.Store) error { return s.Reset(args[0]) })
	})
	cmd.ValidArgsFunction = completeSetting
	return cmd
}

func (c *call) edit(ctx context.Context, key string, change func(*config.Store) error) (reply, error) {
	s, err := c.app.OpenSetup(ctx, c.options(false, silent{}))
	if err != nil {
		return reply{}, err
	}
	if err := change(s.Config); err != nil {
		return reply{}, err
	}
	info, _ := s.Config.Config().Setting(key)
	doc := configSetReply{Path: s.Config.Path(), Setting: settingRowOf(info)}
	return reply{doc: doc, text: func(o *output) {
		o.printf("%s = %s (%s)\n", doc.Setting.Key, line(doc.Setting.Value), doc.Setting.Origin)
	}}, nil
}
