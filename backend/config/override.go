package config

import (
	"errors"
	"strings"

	"contextinfinity/backend/chat"
)

// Overrides are settings for one run of the program as "key=value", which take precedence over the file and are never
// written to it. The later of two for one key wins.
type Overrides []string

const opOverride = "config.override"

// overridden returns the configuration in a file with the overrides applied. The file must be valid: errors, of
// CodeInvalid, concern the overrides.
func overridden(data []byte, overrides Overrides) (*Config, error) {
	doc, err := parseDocument(data)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, s := range overrides {
		name, value, ok := strings.Cut(s, "=")
		switch name = strings.TrimSpace(name); {
		case name == "":
			return nil, chat.Errorf(chat.CodeInvalid, opOverride, "--set %s names no setting.", typedValue(s)).WithHint("write --set KEY=VALUE")
		case !ok:
			return nil, chat.Errorf(chat.CodeInvalid, opOverride, "--set %s has no value.", name).WithHint("write --set KEY=VALUE")
		}
		if err := doc.override(name, value); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	r := reader{file: "--set", doc: doc, c: Default()}
	r.read()
	if err := r.problems.asError(opOverride); err != nil {
		return nil, refusedOverride(err)
	}
	for _, name := range names {
		r.c.origin[name] = OriginCommandLine
	}
	return r.c, nil
}

// refusedOverride names each invalid override, without a position in a file.
func refusedOverride(err error) error {
	var problems Problems
	if !errors.As(err, &problems) {
		return err
	}
	return chat.WrapError(chat.CodeInvalid, opOverride, err, "With --set: %s.", problems.withoutPlaces())
}

// override replaces a value of the file, of a setting or of a model's field (models.NAME.FIELD).
func (d *document) override(name, value string) error {
	path := strings.Split(name, ".")
	var s spec
	if k, ok := findKey(name); ok {
		s = k.spec
	} else if fieldPath, k, ok := modelField(name, d.hasModel); ok {
		path, s = fieldPath, k.spec
	} else {
		e := chat.Errorf(chat.CodeInvalid, opOverride, "--set %s: there is no setting of that name.", name)
		return e.WithHint("%s", chat.AsError(unknownKey(opOverride, name)).Advised())
	}
	raw, problem := s.typed(value)
	if problem == "" {
		_, problem = s.decode(raw)
	}
	if problem != "" {
		return chat.Errorf(chat.CodeInvalid, opOverride, "--set %s %s.", name, problem)
	}
	if d.values == nil {
		d.values = map[string]any{}
	}
	table := d.values
	for _, section := range path[:len(path)-1] {
		child, ok := table[section].(map[string]any)
		if !ok {
			child = map[string]any{}
			table[section] = child
		}
		table = child
	}
	table[path[len(path)-1]] = raw
	return nil
}

func (d *document) hasModel(name string) bool {
	_, ok := d.lookup([]string{"models", name})
	return ok
}

// modelField finds the field that models.NAME.FIELD names, for a model in the file; a NAME may contain dots.
func modelField(name string, inFile func(model string) bool) (path []string, k modelKey, ok bool) {
	rest, ok := strings.CutPrefix(name, "models.")
	dot := strings.LastIndex(rest, ".")
	if !ok || dot < 1 {
		return nil, k, false
	}
	if !inFile(rest[:dot]) {
		return nil, k, false
	}
	for i := range modelTable {
		if modelTable[i].name == rest[dot+1:] {
			return []string{"models", rest[:dot], rest[dot+1:]}, modelTable[i], true
		}
	}
	return nil, k, false
}
