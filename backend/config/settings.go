package config

import "slices"

// SettingInfo is a key with everything needed to show it.
type SettingInfo struct {
	Key     string   `json:"key"`   // "budget.working_set_tokens"
	Group   string   `json:"group"` // "General", "Context budget", ...
	Label   string   `json:"label"`
	Help    string   `json:"help"`  // what it does
	Type    string   `json:"type"`  // TypeInt and so on
	Value   string   `json:"value"` // in TOML syntax, strings without quotes; a list as an array on one line
	Default string   `json:"default"`
	Choices []string `json:"choices"`
	Min     float64  `json:"min"` // Min and Max both 0: unbounded
	Max     float64  `json:"max"`
	Unit    string   `json:"unit"`   // "tokens", "ms", "bytes", ""
	Origin  string   `json:"origin"` // OriginDefault, OriginFile, OriginEnvironment
	// Reserved keys are read and checked, but not used by this version; a window leaves them out.
	Reserved bool `json:"-"`
}

// Settings returns every key outside [models] with its default, in the order of the settings window.
func Settings() []SettingInfo { return Default().Settings() }

// Settings returns every key outside [models] with its value in c.
func (c *Config) Settings() []SettingInfo {
	out := make([]SettingInfo, len(table))
	for i := range table {
		out[i] = c.setting(table[i].name, table[i].spec, table[i].field(c))
	}
	return out
}

// Setting returns a key, or a field of a model in the file (models.NAME.FIELD), with its value in c.
func (c *Config) Setting(name string) (SettingInfo, bool) {
	if k, ok := findKey(name); ok {
		return c.setting(name, k.spec, k.field(c)), true
	}
	path, k, ok := modelField(name, c.configures)
	if !ok {
		return SettingInfo{}, false
	}
	i := slices.IndexFunc(c.Configured, func(m Model) bool { return m.Name == path[1] })
	return c.setting(name, k.spec, k.field(&c.Configured[i])), true
}

func (c *Config) configures(model string) bool {
	return slices.ContainsFunc(c.Configured, func(m Model) bool { return m.Name == model })
}

func (c *Config) setting(name string, s spec, field any) SettingInfo {
	info := s.info()
	info.Key, info.Value, info.Origin = name, format(deref(field)), c.Origin(name)
	return info
}

func (s spec) info() SettingInfo {
	return SettingInfo{
		Key: s.name, Group: s.group, Label: s.label, Help: s.help, Type: s.kind(),
		Default: format(s.def), Choices: s.choices, Min: s.min, Max: s.max, Unit: s.unit, Reserved: s.reserved,
	}
}

func deref(field any) any {
	switch f := field.(type) {
	case *int:
		return *f
	case *float64:
		return *f
	case *bool:
		return *f
	case *string:
		return *f
	case *[]string:
		return *f
	}
	return nil
}

func findKey(name string) (*key, bool) {
	for i := range table {
		if table[i].name == name {
			return &table[i], true
		}
	}
	return nil, false
}
