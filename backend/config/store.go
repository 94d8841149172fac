package config

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"

	toml "github.com/pelletier/go-toml/v2"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/atomicfile"
	"contextinfinity/backend/internal/faultfs"
	"contextinfinity/backend/internal/pattern"
	"contextinfinity/backend/internal/plainfile"
)

// Options say where the configuration is. The zero value means the XDG locations and the process's environment.
type Options struct {
	Path    string // of config.toml; --config
	DataDir string // --data-dir, over general.data_dir
	Getenv  func(string) string
	Set     Overrides // --set, over the file
}

// Store holds the configuration in effect and edits the file. It is safe for concurrent use. Another process may edit
// the file too: each edit starts from the file's current content.
type Store struct {
	opts  Options
	write func(path string, data []byte, perm os.FileMode) error // replaced in tests

	edits sync.Mutex // one edit at a time, including its notifications

	mu          sync.RWMutex
	config      *Config
	defaults    bool  // the file was invalid when it was first read
	err         error // why the file's latest content is not in effect
	subscribers []*func(*Config)
}

// Open reads the configuration. It always returns a usable Store: if the file is missing the defaults apply, and if
// it is invalid they apply too, with an error of CodeConfig that lists every problem. The same is true for invalid
// overrides, with CodeInvalid. It creates nothing.
func Open(opts Options) (*Store, error) {
	if opts.Path == "" {
		opts.Path = DefaultPath()
	}
	if opts.Getenv == nil {
		opts.Getenv = os.Getenv
	}
	s := &Store{opts: opts, write: atomicfile.Write}
	s.config = Default()
	loaded, err := s.load()
	if err == nil {
		s.config = loaded
	} else {
		// The defaults apply, except for the data directory: with another one the conversations would seem to be
		// gone.
		if c, oerr := overridden(nil, s.opts.Set); oerr == nil {
			s.config = c
		} else if chat.CodeOf(err) == chat.CodeConfig {
			err = chat.WrapError(chat.CodeInvalid, opOverride, err, "%s The configuration file has an error too: %s",
				chat.AsError(oerr).Message, chat.AsError(err).Message).WithHint("correct the file first")
		}
		if s.config.General.DataDir == "" {
			s.config.General.DataDir = salvageDataDir(s.opts.Path)
		}
		if ferr := s.finish(s.config); ferr != nil {
			err = errors.Join(err, ferr)
		}
		s.defaults = true
	}
	s.err = err
	return s, err
}

// salvageDataDir returns general.data_dir of an invalid file.
func salvageDataDir(path string) string {
	data, err := readFile(path)
	if err != nil {
		return ""
	}
	var file struct {
		General struct {
			DataDir any `toml:"data_dir"`
		} `toml:"general"`
	}
	if toml.Unmarshal(data, &file) == nil {
		dir, _ := file.General.DataDir.(string)
		return dir
	}
	if m := dataDirLine().FindSubmatch(data); m != nil {
		return string(m[1])
	}
	return ""
}

// dataDirLine finds the key in a file that is not even TOML.
var dataDirLine = pattern.New(`(?m)^\s*data_dir\s*=\s*["']([^"'\n]+)["']`)

// Defaults reports whether the defaults are in effect because the file was invalid from the start: the intended models
// and redaction rules are then unknown.
func (s *Store) Defaults() bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.defaults
}

// Path returns the path of the file, which may not exist.
func (s *Store) Path() string { return s.opts.Path }

// Config returns the configuration in effect.
func (s *Store) Config() *Config {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.config
}

// Err returns the error of the file as last read, nil if its content is in effect.
func (s *Store) Err() error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.err
}

// Subscribe calls f after each change of the configuration, until cancel. f must not edit the configuration.
func (s *Store) Subscribe(f func(*Config)) (cancel func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.subscribers = append(s.subscribers, &f)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.subscribers = slices.DeleteFunc(s.subscribers, func(other *func(*Config)) bool { return other == &f })
	}
}

// Value is a key with its value as typed by the user.
type Value struct{ Name, Value string }

// Set sets a key to a value as typed by the user, and writes the file.
func (s *Store) Set(name, value string) error { return s.SetAll([]Value{{name, value}}) }

// SetAll sets several keys at once: all of them or none.
func (s *Store) SetAll(values []Value) error {
	const op = "config.set"
	parsed, paths := make([]any, len(values)), make([][]string, len(values))
	for i, v := range values {
		path, k, ok := s.settable(v.Name)
		if !ok {
			return unknownKey(op, v.Name)
		}
		paths[i] = path
		value, problem := k.parse(v.Value)
		if problem != "" {
			return chat.Errorf(chat.CodeInvalid, op, "%s %s; nothing was changed", v.Name, problem)
		}
		parsed[i] = value
	}
	return s.edit(op, func(data []byte) (_ []byte, err error) {
		for i := range values {
			if data, err = setValue(data, paths[i], parsed[i]); err != nil {
				return nil, err
			}
		}
		return data, nil
	})
}

// Reset removes a key from the file, so that its default applies.
func (s *Store) Reset(name string) error {
	const op = "config.reset"
	path, _, ok := s.settable(name)
	if !ok {
		return unknownKey(op, name)
	}
	return s.edit(op, func(data []byte) ([]byte, error) {
		return removePath(data, path)
	})
}

// settable finds a setting, or a field of a model in the file (models.NAME.FIELD), and where it is in the file.
func (s *Store) settable(name string) (path []string, key spec, ok bool) {
	if k, ok := findKey(name); ok {
		return strings.Split(name, "."), k.spec, true
	}
	path, k, ok := modelField(name, s.Config().configures)
	return path, k.spec, ok
}

func unknownKey(op, name string) error {
	var known []string
	for i := range table {
		known = append(known, table[i].name)
	}
	err := chat.Errorf(chat.CodeInvalid, op, "There is no setting %q; nothing was changed.", name)
	if slices.Contains(retired, name) {
		return err.WithHint("it was one in earlier versions; its value is now fixed")
	}
	if strings.HasPrefix(name, "models.") {
		return err.WithHint("models.NAME.FIELD is a field of a model in the file: contextinfinity models lists them")
	}
	if near := nearest(name, known); near != "" {
		return err.WithHint("did you mean %s?", near)
	}
	return err.WithHint("contextinfinity config show lists them")
}

// SaveModel writes [models.NAME], new or changed; other keys and comments in the file stay. Default values are
// omitted.
func (s *Store) SaveModel(m Model) error {
	const op = "config.save_model"
	if problem := checkModelName(m.Name); problem != "" {
		return chat.Errorf(chat.CodeInvalid, op, "The name %s; nothing was changed.", problem)
	}
	options, omit, err := splitOptions(m.Options)
	if err != nil {
		return err
	}
	m.omit = omit
	return s.edit(op, func(data []byte) ([]byte, error) { return writeModel(data, m, options) })
}

func writeModel(data []byte, m Model, options map[string]any) ([]byte, error) {
	table := []string{"models", m.Name}
	data, err := writeFields(data, table, modelTable, &m)
	if err != nil {
		return nil, err
	}
	return writeOptions(data, slices.Concat(table, []string{optionsKey}), options)
}

// writeOptions keeps unchanged options in the form they have in the file.
func writeOptions(data []byte, path []string, options map[string]any) ([]byte, error) {
	d, err := parseDocument(data)
	if err != nil {
		return nil, err
	}
	if current, _ := d.lookup(path); reflect.DeepEqual(current, any(options)) {
		return data, nil
	}
	if data, err = removePath(data, path); err != nil || len(options) == 0 {
		return data, err
	}
	return setValue(data, path, options)
}

// splitOptions splits provider options into TOML values and names to omit, and restores integers that came through
// JSON.
func splitOptions(options map[string]any) (values map[string]any, omit []string, err error) {
	values = map[string]any{}
	for _, name := range sortedKeys(options) {
		if options[name] == nil {
			omit = append(omit, name)
			continue
		}
		v, ok := plainValue(options[name])
		if !ok {
			return nil, nil, chat.Errorf(chat.CodeInvalid, "config.save_model",
				"provider option %s is null or has a value that cannot be written; nothing was changed", name).
				WithHint("null is allowed at the top level only")
		}
		values[name] = v
	}
	return values, omit, nil
}

func plainValue(value any) (any, bool) {
	switch v := value.(type) {
	case string, bool, int64:
		return v, true
	case int:
		return int64(v), true
	case float64:
		if v == float64(int64(v)) {
			return int64(v), true
		}
		return v, true
	case []any:
		out := make([]any, len(v))
		for i := range v {
			item, ok := plainValue(v[i])
			if !ok {
				return nil, false
			}
			out[i] = item
		}
		return out, true
	case map[string]any:
		out := map[string]any{}
		for k := range v {
			item, ok := plainValue(v[k])
			if !ok {
				return nil, false
			}
			out[k] = item
		}
		return out, true
	}
	return nil, false
}

// RemoveModel removes [models.NAME] from the file. If it was the default or the librarian's model, that setting is
// reset too.
func (s *Store) RemoveModel(name string) error {
	const op = "config.remove_model"
	return s.edit(op, func(data []byte) ([]byte, error) {
		c, d, err := parse(s.opts.Path, data)
		if err != nil {
			return nil, err
		}
		path := []string{"models", name}
		if _, ok := d.lookup(path); !ok {
			if c.knownName(name) {
				return nil, chat.Errorf(chat.CodeInvalid, op, "%s is built in and cannot be removed", name).
					WithHint("a provider's built-in models disappear when its key is removed")
			}
			return nil, chat.Errorf(chat.CodeNotFound, op, "no model of that name is configured; nothing was changed")
		}
		if data, err = removePath(data, path); err != nil {
			return nil, err
		}
		return resetModelReferences(data, c, name)
	})
}

func resetModelReferences(data []byte, c *Config, name string) (out []byte, err error) {
	if c.General.DefaultModel == name {
		if data, err = removePath(data, []string{"general", "default_model"}); err != nil {
			return nil, err
		}
	}
	if c.Librarian.Model == name {
		return removePath(data, []string{"librarian", "model"})
	}
	return data, nil
}

// edit replaces the file's current content by the result of change. It is refused if the content, or the result, has a
// problem.
func (s *Store) edit(op string, change func([]byte) ([]byte, error)) error {
	s.edits.Lock()
	defer s.edits.Unlock()
	data, err := readFile(s.opts.Path)
	if err != nil {
		return err
	}
	before, err := Parse(s.opts.Path, data)
	if err != nil {
		return chat.WrapError(chat.CodeConfig, op, err, "the configuration file has an error and was not changed: %s", err).
			WithHint("correct %s in a text editor first", s.opts.Path)
	}
	changed, err := change(data)
	if err != nil {
		return s.editFailure(op, err)
	}
	c, err := s.parse(changed)
	if err == nil {
		err = c.Faults.beyond(before.Faults).asError(op)
	}
	if err != nil {
		return rejected(op, err)
	}
	if err := s.finish(c); err != nil {
		return err
	}
	if err := s.save(op, changed); err != nil {
		return err
	}
	s.activate(c)
	return nil
}

func (s *Store) editFailure(op string, err error) error {
	if errors.Is(err, errByHand) {
		return chat.WrapError(chat.CodeConfig, op, err, "the file is written in a form that cannot be edited here; nothing was changed").
			WithHint("edit %s in a text editor", s.opts.Path)
	}
	return err
}

// rejected returns the error for a valid change that conflicts with other settings.
func rejected(op string, err error) error {
	var problems Problems
	if !errors.As(err, &problems) {
		return err
	}
	return chat.WrapError(chat.CodeInvalid, op, err, "%s; nothing was changed", problems.withoutPlaces())
}

func (s *Store) save(op string, data []byte) error {
	if err := faultfs.MkdirAll(faultfs.Config, filepath.Dir(s.opts.Path), 0o700); err != nil {
		return chat.WrapError(chat.CodeInternal, op, err,
			"the folder of %s could not be created; nothing was changed", s.opts.Path)
	}
	return s.write(s.opts.Path, data, 0o600)
}

// activate puts a configuration into effect, and notifies the subscribers.
func (s *Store) activate(c *Config) {
	s.mu.Lock()
	s.config, s.err, s.defaults = c, nil, false
	calls := slices.Clone(s.subscribers)
	s.mu.Unlock()
	for _, call := range calls {
		(*call)(c)
	}
}

func (s *Store) load() (*Config, error) {
	data, err := readFile(s.opts.Path)
	if err != nil {
		return nil, err
	}
	c, err := s.parse(data)
	if err != nil {
		return nil, err
	}
	return c, s.finish(c)
}

// parse parses the file's text, with the overrides applied.
func (s *Store) parse(data []byte) (*Config, error) {
	c, err := Parse(s.opts.Path, data)
	if err != nil || len(s.opts.Set) == 0 {
		return c, err
	}
	return overridden(data, s.opts.Set)
}

// finish applies the settings from outside the file: the environment, and the resolved data directory.
func (s *Store) finish(c *Config) error {
	if v := s.opts.Getenv("CONTEXTINFINITY"); (v == "0" || v == "1") && c.Origin("context.infinity") != OriginCommandLine {
		c.Context.Infinity = v == "1"
		c.origin["context.infinity"] = OriginEnvironment
	}
	dir, err := dataDir(s.opts.DataDir, c.General.DataDir)
	c.DataDir = dir
	return err
}

// readFile reads the configuration; a missing file counts as empty.
func readFile(path string) ([]byte, error) {
	f, err := plainfile.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		defer func() { _ = f.Close() }()
		var data []byte
		if data, err = io.ReadAll(io.LimitReader(f, maxFileSize+1)); err == nil {
			return data, nil
		}
	}
	return nil, chat.WrapError(chat.CodeConfig, "config.load", err,
		"%s could not be read and was not changed: %v", path, err).
		WithHint("check its permissions")
}
