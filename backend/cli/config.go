package cli

import (
	"context"

	"contextinfinity/backend/config"
	"contextinfinity/backend/internal/lists"
)

func configVerb() verb {
	return verb{
		use:   "config",
		short: "Show, check and change the configuration",
		verbs: []verb{
			{
				use:   "path",
				short: "Print the path of the configuration file, whether it exists or not",
				opens: opensFaulty,
				do: func(_ context.Context, r *run) (reply, error) {
					path, dir := r.setup.Config.Path(), r.setup.Config.Config().DataDir
					return sentence(fields{{"path", path}, {"data_dir", dir}}, "%s", path), nil
				},
			},
			{
				use:   "show",
				short: "Print every setting in effect and where it comes from",
				opens: opensSetup,
				do:    showConfig,
			},
			{
				use:   "check",
				short: "Check the configuration file and report every error by line and key",
				opens: opensFaulty,
				do:    checkConfig,
			},
			{
				use:   "set KEY VALUE",
				short: "Change a setting; the rest of the file does not change",
				opens: opensFaulty,
				do: func(_ context.Context, r *run) (reply, error) {
					return r.changedSetting(r.setup.Config.Set(r.args[0], r.args[1]))
				},
			},
			{
				use:   "reset KEY",
				short: "Reset a setting to its default",
				opens: opensFaulty,
				do: func(_ context.Context, r *run) (reply, error) {
					return r.changedSetting(r.setup.Config.Reset(r.args[0]))
				},
			},
		},
	}
}

func showConfig(_ context.Context, r *run) (reply, error) {
	path, dir := r.setup.Config.Path(), r.setup.Config.Config().DataDir
	all := r.setup.Config.Config().Settings()
	t := tableOf("SETTING|VALUE|UNIT|FROM", all, func(i config.SettingInfo) []any {
		return []any{i.Key, clip(i.Value, 60), i.Unit, i.Origin}
	})
	doc := fields{{"path", path}, {"data_dir", dir}, {"settings", lists.Map(all, settingRow)}}
	return reply{doc: doc, text: func(o *output) {
		o.printf("file  %s\ndata  %s\n\n", line(path), line(dir))
		t.print(o)
	}}, nil
}

// settingRow is a key of the configuration with its value in effect.
func settingRow(i config.SettingInfo) fields {
	return fields{
		{"key", i.Key},
		{"value", i.Value},
		{"default", i.Default},
		{"origin", i.Origin},
		{"unit", i.Unit},
		{"help", i.Help},
	}
}

func checkConfig(_ context.Context, r *run) (reply, error) {
	s := r.setup
	path, fault := s.Config.Path(), s.Config.Err()
	if fault == nil {
		fault = s.Config.Config().Faults.Err()
	}
	retired := s.Config.Config().Retired // lines that no longer have an effect
	doc := fields{{"path", path}, {"ok", fault == nil}, {"retired,omitempty", retired}}
	return reply{doc: doc, keepOnError: true, text: func(o *output) {
		if fault != nil {
			return // the error says where
		}
		o.printEach("%s\n", retired)
		o.printf("No faults: %s\n", line(path))
	}}, fault
}

// changedSetting replies with a setting after a change, which may have failed.
func (r *run) changedSetting(err error) (reply, error) {
	info, _ := r.setup.Config.Config().Setting(r.args[0])
	doc := fields{{"path", r.setup.Config.Path()}, {"setting", settingRow(info)}}
	return sentence(doc, "%s = %s (%s)", info.Key, line(info.Value), info.Origin), err
}
