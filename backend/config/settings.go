package config

// SettingInfo is a key with everything needed to show it.
type SettingInfo struct {
	Key     string // "budget.working_set_tokens"
	Group   string
	Label   string
	Help    string
	Type    string // TypeInt and so on
	Value   string // in TOML syntax, strings without quotes; a list as an array on one line
	Default string
	Choices []string
	Min     float64 // Min and Max both 0: unbounded
	Max     float64
	Unit    string
	Origin  string // OriginDefault, OriginFile, OriginEnvironment
	// Reserved keys are read and checked, but not used by this version; a window leaves them out.
	Reserved bool
}

// Settings is every key outside [models] with its default, in the order of the
// settings window.
func Settings() []SettingInfo { return Default().Settings() }

// Settings is every key outside [models] with its value in c.
func (c *Config) Settings() []SettingInfo {
	out := make([]SettingInfo, len(table))
	for i := range table {
		k := &table[i]
		out[i] = k.info()
		out[i].Value = format(deref(k.field(c)))
		out[i].Origin = c.Origin(k.name)
	}
	return out
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
