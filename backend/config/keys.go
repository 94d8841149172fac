package config

import (
	"fmt"
	"math"
	"net/http"
	"net/url"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	toml "github.com/pelletier/go-toml/v2"

	"contextinfinity/backend/internal/loopback"
	"contextinfinity/backend/internal/pattern"
)

// Types of a setting, as used by the window.
const (
	TypeInt    = "int"
	TypeFloat  = "float"
	TypeBool   = "bool"
	TypeString = "string"
	TypeText   = "text" // a string of several lines
	TypeChoice = "choice"
	TypeList   = "list" // of strings; its value is a TOML array on one line
)

// spec defines a key of the file. Its type is that of the field that receives it; everything else about it is defined
// here.
type spec struct {
	name     string // "budget.compact_at", or the bare name inside [models.NAME]
	group    string
	label    string
	help     string
	unit     string
	lines    bool // a text of several lines
	def      any  // int, float64, bool, string, []string
	min, max float64
	choices  []string
	// unavailable says why true is refused, if this version does not support it.
	unavailable string
	// reserved: read and checked, but not used by this version, so the window does not offer it.
	reserved bool
	check    func(string) string // returns what is wrong with a string, or ""
}

// row is a key of a table: its definition, and the field that receives its value.
type row[T any] struct {
	spec
	field func(*T) any
}

// key is a setting.
type key = row[Config]

// fillDefaults sets every field that has a row to its default.
func fillDefaults[T any](rows []row[T], v *T) {
	for i := range rows {
		rows[i].assign(rows[i].field(v), rows[i].def)
	}
}

// readFields reads the table at path into v. others are keys that the caller reads.
func readFields[T any](r *reader, path []string, fields map[string]any, rows []row[T], v *T, others ...string) {
	known := others
	for i := range rows {
		k := &rows[i]
		known = append(known, k.name)
		if raw, ok := fields[k.name]; ok {
			keyPath := slices.Concat(path, []string{k.name})
			r.set(keyPath, k.spec, k.field(v), raw)
			r.c.origin[strings.Join(keyPath, ".")] = OriginFile
		}
	}
	for _, name := range sortedKeys(fields) {
		if !slices.Contains(known, name) {
			r.unknown(slices.Concat(path, []string{name}), known)
		}
	}
}

// writeFields writes v to the table at path. Default values are omitted.
func writeFields[T any](data []byte, path []string, rows []row[T], v *T) (_ []byte, err error) {
	for i := range rows {
		k := &rows[i]
		keyPath := slices.Concat(path, []string{k.name})
		if value := deref(k.field(v)); reflect.DeepEqual(value, k.def) || isEmptyList(value) {
			data, err = removePath(data, keyPath)
		} else {
			data, err = setValue(data, keyPath, value)
		}
		if err != nil {
			return nil, err
		}
	}
	return data, nil
}

func isEmptyList(value any) bool {
	list, ok := value.([]string)
	return ok && len(list) == 0
}

func (s spec) kind() string {
	switch s.def.(type) {
	case int:
		return TypeInt
	case float64:
		return TypeFloat
	case bool:
		return TypeBool
	case []string:
		return TypeList
	}
	if len(s.choices) > 0 {
		return TypeChoice
	}
	if s.lines {
		return TypeText
	}
	return TypeString
}

// assign stores a value from decode or the table in its field.
func (s spec) assign(field, value any) {
	switch f := field.(type) {
	case *int:
		*f = value.(int)
	case *float64:
		*f = value.(float64)
	case *bool:
		*f = value.(bool)
	case *string:
		*f = value.(string)
	case *[]string:
		*f = slices.Clone(value.([]string))
	default:
		panic(fmt.Sprintf("config: field of %s has no known type", s.name))
	}
}

// decode converts a TOML value to the key's type, or says what is wrong. It only repeats numbers: a string might be
// an API key in the wrong place.
func (s spec) decode(raw any) (value any, problem string) {
	switch s.def.(type) {
	case int:
		n, ok := raw.(int64)
		if !ok {
			return nil, "must be a whole number, not " + tomlType(raw)
		}
		return s.bounded(int(n), float64(n), strconv.FormatInt(n, 10))
	case float64:
		f, ok := asFloat(raw)
		if !ok {
			return nil, "must be a number, not " + tomlType(raw)
		}
		return s.bounded(f, f, formatFloat(f))
	case bool:
		b, ok := raw.(bool)
		if !ok {
			return nil, "must be true or false, not " + tomlType(raw)
		}
		if b && s.unavailable != "" {
			return nil, s.unavailable
		}
		return b, ""
	case []string:
		return s.decodeList(raw)
	}
	return s.decodeString(raw)
}

func (s spec) bounded(value any, n float64, text string) (any, string) {
	switch {
	case math.IsNaN(n) || math.IsInf(n, 0):
		return nil, "must be a finite number"
	case s.min == 0 && s.max == 0:
		return value, ""
	case n < s.min || n > s.max:
		return nil, fmt.Sprintf("must be between %s and %s, not %s", formatFloat(s.min), formatFloat(s.max), text)
	}
	return value, ""
}

func (s spec) decodeString(raw any) (any, string) {
	str, ok := raw.(string)
	if !ok {
		return nil, "must be text in quotes, not " + tomlType(raw)
	}
	if len(s.choices) > 0 && !slices.Contains(s.choices, str) {
		return nil, "must be one of " + strings.Join(s.choices, ", ")
	}
	if hasControl(str) {
		return nil, "must not contain control characters"
	}
	if s.check != nil {
		if problem := s.check(str); problem != "" {
			return nil, problem
		}
	}
	return str, ""
}

func hasControl(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f })
}

func (s spec) decodeList(raw any) (any, string) {
	items, ok := raw.([]any)
	if !ok {
		return nil, "must be a list of strings, not " + tomlType(raw)
	}
	list := make([]string, 0, len(items))
	for i, item := range items {
		str, ok := item.(string)
		if !ok {
			return nil, fmt.Sprintf("must be a list of strings: item %d is %s", i+1, tomlType(item))
		}
		if s.check != nil {
			if problem := s.check(str); problem != "" {
				return nil, fmt.Sprintf("item %d %s", i+1, problem)
			}
		}
		list = append(list, str)
	}
	return list, ""
}

// parse parses a value typed in the window or on the command line: a string without quotes, a list as a TOML array.
func (s spec) parse(text string) (value any, problem string) {
	raw, problem := s.typed(text)
	if problem != "" {
		return nil, problem
	}
	return s.decode(raw)
}

// typed converts typed text to the TOML value that it means.
func (s spec) typed(text string) (raw any, problem string) {
	trimmed := strings.TrimSpace(text)
	switch s.def.(type) {
	case int:
		n, err := strconv.ParseInt(trimmed, 10, 64)
		if err != nil {
			return nil, "must be a whole number, not " + typedValue(trimmed)
		}
		return n, ""
	case float64:
		f, err := strconv.ParseFloat(trimmed, 64)
		if err != nil {
			return nil, "must be a number, not " + typedValue(trimmed)
		}
		return f, ""
	case bool:
		b, err := strconv.ParseBool(trimmed)
		if err != nil {
			return nil, "must be true or false, not " + typedValue(trimmed)
		}
		return b, ""
	case []string:
		var doc map[string]any
		if err := toml.Unmarshal([]byte("v = "+trimmed), &doc); err != nil || len(doc) != 1 {
			return nil, `must be a list such as ["one", "two"]`
		}
		return doc["v"], ""
	}
	return text, ""
}

// typedValue returns the typed text as quoted in an error.
func typedValue(text string) string {
	if len(text) > maxTyped {
		text = strings.ToValidUTF8(text[:maxTyped], "") + "…"
	}
	return strconv.Quote(text)
}

// maxTyped limits a typed value in an error, in bytes.
const maxTyped = 40

// format returns the value in TOML syntax, strings without their quotes.
func format(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case float64:
		return formatFloat(v)
	case []string:
		return tomlValue(v)
	}
	return fmt.Sprint(value)
}

func formatFloat(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func asFloat(raw any) (float64, bool) {
	switch v := raw.(type) {
	case float64:
		return v, true
	case int64:
		return float64(v), true
	}
	return 0, false
}

func tomlType(raw any) string {
	switch raw.(type) {
	case string:
		return "a text"
	case int64:
		return "a whole number"
	case float64:
		return "a number with a fraction"
	case bool:
		return "true or false"
	case map[string]any:
		return "a table"
	case []any:
		return "a list"
	}
	return "a date or time"
}

var shortcutForm = pattern.New(`^[A-Za-z][A-Za-z0-9]{0,39}=(?:(?:Ctrl\+)?(?:Alt\+)?(?:Shift\+)?(?:\S|[A-Z][A-Za-z0-9]{1,19}))?$`)

func checkShortcut(s string) string {
	if shortcutForm().MatchString(s) {
		return ""
	}
	return `must be a command and its keys, such as "new=Ctrl+Shift+M"`
}

// globalKeys are combinations that a desktop can deliver from other windows. A key that types a character needs a
// modifier other than Shift, because it could no longer be typed.
var globalKeys = regexp.MustCompile(`^(?:(?:Shift\+)?F(?:[1-9]|1[0-2])|(?:Ctrl\+(?:Alt\+)?|Alt\+)(?:Shift\+)?(?:Super\+)?(?:[A-Z0-9]|F(?:[1-9]|1[0-2])|Space|Tab|Insert|Home|End|PageUp|PageDown|Pause)|` +
	`(?:Shift\+)?Super\+(?:[A-Z0-9]|F(?:[1-9]|1[0-2])|Space|Tab|Insert|Home|End|PageUp|PageDown|Pause))$`)

func checkGlobalKeys(s string) string {
	if s == "" || globalKeys.MatchString(s) {
		return ""
	}
	return `must be Ctrl, Alt or Super with a key, in the order "Ctrl+Alt+Shift+Super+Space", or F1 to F12`
}

func checkFeed(s string) string {
	if s == "" {
		return ""
	}
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https"):
		return "must be an https:// address, or http:// on this computer"
	case u.User != nil:
		return "must not contain a user name or password"
	case loopback.Exposes(s):
		return "must be an https:// address: over plain http anybody on the network could forge the answer"
	}
	return ""
}

func checkPattern(s string) string {
	if _, err := regexp.Compile(s); err != nil {
		return "is not a regular expression (RE2 syntax)"
	}
	return ""
}

func checkFolder(s string) string {
	if filepath.IsAbs(s) {
		return ""
	}
	return "is not the full path of a folder"
}

// maxInstructions is the longest text of general.instructions, in bytes. Every request contains it.
const maxInstructions = 20_000

func checkInstructions(s string) string {
	if len(s) > maxInstructions {
		return "must be at most 20 000 bytes long"
	}
	return ""
}

func checkDataDir(s string) string {
	if s == "" || s == "~" || strings.HasPrefix(s, "~/") || filepath.IsAbs(s) {
		return ""
	}
	return "must be an absolute path or begin with ~/"
}

// checkWorkFolder is like checkDataDir, but also allows $HOME.
func checkWorkFolder(s string) string {
	if strings.HasPrefix(s, "$HOME") || strings.HasPrefix(s, "${HOME}") {
		return ""
	}
	return checkDataDir(s)
}

// webAddress parses an address that may be empty, or says what is wrong with it. secrets says where they belong.
func webAddress(s, secrets string) (u *url.URL, problem string) {
	u, err := url.Parse(s)
	switch {
	case s == "":
	case strings.ContainsFunc(s, unicode.IsSpace):
		return nil, "must not contain blanks"
	case err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https"):
		return nil, "must be an http:// or https:// address"
	case u.User != nil:
		return nil, "must not contain a user name or password; use " + secrets
	}
	return u, ""
}

// checkBaseURL allows a query, which some gateways need (?api-version=), but no key in it.
func checkBaseURL(s string) string {
	u, problem := webAddress(s, "api_key_env or the keyring")
	switch {
	case problem != "" || s == "":
	case u.Fragment != "":
		problem = "must not have a fragment"
	case slices.ContainsFunc(sortedKeys(u.Query()), carriesSecret):
		problem = "must not contain a key in its query; use api_key_env, the keyring or headers"
	}
	return problem
}

func checkKeyHeader(s string) string {
	switch {
	case s == "":
	case !headerName().MatchString(s):
		return "must be the name of a header, such as Authorization or api-key, never a key itself"
	case slices.Contains(ownHeaders, http.CanonicalHeaderKey(s)):
		return "is a header that the protocol itself sets"
	}
	return ""
}

// checkHeader checks one of a model's headers. It never repeats the value.
func checkHeader(s string) string {
	name, value := Header(s)
	switch {
	case !strings.Contains(s, ":") || !headerName().MatchString(name) || hasControl(value):
		return `must be a header in the form "NAME: value"`
	case slices.Contains(ownHeaders, name):
		return "is a header that the protocol itself sets"
	case carriesSecret(name) && !placeholderPattern().MatchString(value):
		return "carries a secret: its value must come from ${env:NAME} or, from the keyring, ${secret:NAME}"
	}
	return ""
}

// carriesSecret reports whether a header or a parameter has a secret, by its name.
func carriesSecret(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"authorization", "key", "token", "secret", "password", "cookie"}, func(word string) bool {
		return strings.Contains(name, word)
	})
}

var envName = pattern.New(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)

func checkEnvName(s string) string {
	if s == "" || envName().MatchString(s) {
		return ""
	}
	return "must be the name of an environment variable, such as OPENAI_API_KEY, never a key itself"
}
