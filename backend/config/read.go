package config

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lexical"
)

// maxFileSize limits what is read: no real config.toml comes near it.
const maxFileSize = 4 << 20

// Problem is one error in the file.
type Problem struct {
	File    string
	Line    int
	Key     string // empty for a syntax error
	Message string
}

func (p Problem) String() string {
	if p.Key == "" {
		return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Message)
	}
	return fmt.Sprintf("%s:%d: %s %s", p.File, p.Line, p.Key, p.Message)
}

// Problems are all errors of a file, in file order. It is the cause of this package's CodeConfig errors.
type Problems []Problem

func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// withoutPlaces lists the problems of values that are not in a file.
func (ps Problems) withoutPlaces() string {
	parts := make([]string, len(ps))
	for i, p := range ps {
		parts[i] = strings.TrimSpace(p.Key + " " + p.Message)
	}
	return strings.Join(parts, "; ")
}

// about describes the problems of the keys with a prefix; empty if there are none.
func (ps Problems) about(prefix string) string {
	others := func(p Problem) bool { return !strings.HasPrefix(p.Key, prefix) }
	return slices.DeleteFunc(slices.Clone(ps), others).withoutPlaces()
}

// beyond returns the problems that are not in others, whatever their lines.
func (ps Problems) beyond(others Problems) Problems {
	return slices.DeleteFunc(slices.Clone(ps), func(p Problem) bool {
		return slices.ContainsFunc(others, func(o Problem) bool { return o.Key == p.Key && o.Message == p.Message })
	})
}

// Err returns the problems as an error, or nil.
func (ps Problems) Err() error { return ps.asError("config.check") }

func (ps Problems) asError(op string) error {
	if len(ps) == 0 {
		return nil
	}
	slices.SortStableFunc(ps, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	return chat.WrapError(chat.CodeConfig, op, ps, "%s", ps)
}

// Parse parses and checks the text of a configuration; file names it in errors. On any problem the result is nil and
// the error, of CodeConfig, contains Problems.
func Parse(file string, data []byte) (*Config, error) {
	c, _, err := parse(file, data)
	return c, err
}

func parse(file string, data []byte) (*Config, *document, error) {
	if len(data) > maxFileSize {
		return nil, nil, Problems{{File: file, Line: 1, Message: "is too large for a configuration file"}}.asError("config.load")
	}
	doc, err := parseDocument(data)
	if syntax, ok := errors.AsType[*syntaxError](err); ok {
		return nil, nil, Problems{{File: file, Line: syntax.line, Key: dotted(syntax.key), Message: syntax.message}}.asError("config.load")
	}
	r := reader{file: file, doc: doc, c: Default()}
	r.read()
	if err := r.problems.asError("config.load"); err != nil {
		return nil, doc, err
	}
	return r.c, doc, nil
}

// reader fills a Config from a document and collects problems.
type reader struct {
	file     string
	doc      *document
	c        *Config
	problems Problems
}

func (r *reader) fail(path []string, format string, args ...any) {
	r.problems = append(r.problems, Problem{
		File: r.file, Line: r.doc.line(path), Key: dotted(path), Message: fmt.Sprintf(format, args...),
	})
}

func (r *reader) read() {
	for i := range table {
		k := &table[i]
		path := strings.Split(k.name, ".")
		if raw, ok := r.doc.lookup(path); ok {
			r.set(path, k.spec, k.field(r.c), raw)
			r.c.origin[k.name] = OriginFile
		}
	}
	r.unknownKeys()
	r.readTables([]string{"models"}, checkModelName, r.readModel)
	r.readServers()
	r.checkTogether()
}

func (r *reader) set(path []string, s spec, field, raw any) {
	before := len(r.problems)
	value, problem := s.decode(raw)
	if problem == "" {
		s.assign(field, value)
		return
	}
	r.fail(path, "%s", problem)
	if name := dotted(path); strings.HasPrefix(name, embeddingKeys) || strings.HasPrefix(name, rerankerKeys) {
		r.fault(before)
	}
}

// fault makes the problems since before those of one part, which is then unusable, and describes them; empty if there
// are none.
func (r *reader) fault(before int) string {
	found := slices.Clone(r.problems[before:])
	r.c.Faults = append(r.c.Faults, found...)
	r.problems = r.problems[:before]
	return found.withoutPlaces()
}

// unknownKeys reports unknown keys. [models] and [mcp.servers] are checked separately.
func (r *reader) unknownKeys() {
	sections := map[string][]string{"mcp": {serversKey}}
	for i := range table {
		path := strings.Split(table[i].name, ".")
		for n := 1; n < len(path); n++ {
			section := strings.Join(path[:n], ".")
			if !slices.Contains(sections[section], path[n]) {
				sections[section] = append(sections[section], path[n])
			}
		}
	}
	for _, section := range sortedKeys(r.doc.values) {
		_, ok := sections[section]
		switch {
		case section == "models":
		case !ok:
			top := slices.DeleteFunc(sortedKeys(sections), func(name string) bool { return strings.Contains(name, ".") })
			r.unknown([]string{section}, append(top, "models"))
		default:
			r.unknownIn([]string{section}, r.doc.values[section], sections)
		}
	}
}

// retired are settings of earlier versions. A file may still contain them.
var retired = []string{
	"retrieval.chunk_max_tokens",
	"retrieval.chunk_min_tokens",
	"retrieval.chunk_overlap_tokens",
	"retrieval.length_cost",
	"retrieval.length_free_tokens",
	"retrieval.local_weight",
	"retrieval.max_terms",
	"retrieval.nearby_score",
	"retrieval.nearby_units",
	"retrieval.neighbour_full_tokens",
	"retrieval.neighbour_score",
	"retrieval.neighbour_words",
	"retrieval.ranked",
	"retrieval.ranked_with_neighbours",
	"retrieval.reply_score",
	"retrieval.role_prior",
	"retrieval.speaker_boost",
	"storage.dsn",
}

const retiredMessage = "is no longer a setting and has no effect; the line can be deleted"

// unknownIn reports unknown keys in a section and its subsections.
func (r *reader) unknownIn(path []string, value any, sections map[string][]string) {
	body, isTable := value.(map[string]any)
	if !isTable {
		r.fail(path, "must be a table: write [%s]", dotted(path))
		return
	}
	known := sections[strings.Join(path, ".")]
	for _, name := range sortedKeys(body) {
		child := slices.Concat(path, []string{name})
		if slices.Contains(retired, dotted(child)) {
			notice := Problem{File: r.file, Line: r.doc.line(child), Key: dotted(child), Message: retiredMessage}
			r.c.Retired = append(r.c.Retired, notice.String())
		} else if !slices.Contains(known, name) {
			r.unknown(child, known)
		} else if _, isSection := sections[strings.Join(child, ".")]; isSection {
			r.unknownIn(child, body[name], sections)
		}
	}
}

func (r *reader) unknown(path []string, known []string) {
	name := path[len(path)-1]
	if looksLikeKeySetting(name) {
		r.fail(path, "is unknown: API keys are never kept in this file; use api_key_env or the keyring")
		return
	}
	if near := nearest(name, known); near != "" {
		r.fail(path, "is unknown; did you mean %s?", near)
		return
	}
	r.fail(path, "is unknown")
}

func looksLikeKeySetting(name string) bool {
	name = strings.ToLower(name)
	return slices.Contains([]string{"key", "api_key", "apikey", "api-key", "secret", "token", "password"}, name)
}

// readTables reads the tables of a section whose names the user chooses, in file order.
func (r *reader) readTables(
	section []string, checkName func(string) string, read func(path []string, fields map[string]any),
) {
	raw, ok := r.doc.lookup(section)
	if !ok {
		return
	}
	tables, isTable := raw.(map[string]any)
	if !isTable {
		r.fail(section, "must contain tables: write [%s.NAME]", dotted(section))
		return
	}
	for _, name := range r.doc.names(section) {
		path := slices.Concat(section, []string{name})
		fields, isTable := tables[name].(map[string]any)
		before := len(r.problems)
		switch problem := checkName(name); {
		case problem != "":
			r.fail(path, "%s", problem)
			r.fault(before)
		case !isTable:
			r.fail(path, "must be a table: write [%s]", dotted(path))
			r.fault(before)
		default:
			read(path, fields)
		}
	}
}

func checkModelName(name string) string {
	switch {
	case name == Recall:
		return "is built in and cannot be configured"
	case name == AutoModel:
		return "is not a valid name: librarian.model uses that word"
	case strings.TrimSpace(name) != name || name == "" || len(name) > 100,
		strings.ContainsFunc(name, func(c rune) bool { return c < ' ' || c == 0x7f }):
		return "is not a valid name: use 1 to 100 bytes without control characters or spaces around"
	}
	return ""
}

func (r *reader) readModel(path []string, fields map[string]any) {
	before := len(r.problems)
	m := newModel(path[1])
	readFields(r, path, fields, modelTable, &m, optionsKey)
	r.readOptions(path, &m, fields[optionsKey])
	if len(r.problems) == before {
		for _, problem := range m.faults() {
			r.fail(path, "%s", problem)
		}
	}
	m.Fault = r.fault(before)
	r.c.Configured = append(r.c.Configured, m)
}

// faults returns what is wrong with a model whose individual keys are valid.
func (m Model) faults() []string {
	var out []string
	if m.Provider == "" {
		out = append(out, "needs provider: openai, anthropic, chatcompletions or recall")
	}
	if m.ModelID == "" && m.Provider != ProviderRecall {
		out = append(out, "needs model_id")
	}
	if m.Provider == ProviderChatCompletions && m.BaseURL == "" {
		out = append(out, "needs base_url: chatcompletions has no server of its own")
	}
	if m.ContextLimit > 0 && m.MaxOutput >= m.ContextLimit {
		out = append(out, "max_output must be below context_limit")
	}
	return out
}

func (r *reader) readOptions(path []string, m *Model, raw any) {
	options, ok := raw.(map[string]any)
	if raw != nil && !ok {
		r.fail(slices.Concat(path, []string{optionsKey}), "must be a table")
		return
	}
	if len(options)+len(m.omit) == 0 {
		return
	}
	m.Options = map[string]any{}
	for _, name := range m.omit {
		m.Options[name] = nil
	}
	for name, value := range options {
		if slices.Contains(m.omit, name) {
			r.fail(slices.Concat(path, []string{omitKey}), "names %s, which %s sets", name, optionsKey)
		}
		m.Options[name] = value
	}
}

// checkTogether checks the invariants that involve several keys.
func (r *reader) checkTogether() {
	c := r.c
	rules := []struct {
		ok         bool
		key, other string
		message    string
	}{
		{c.Budget.CompactTo < c.Budget.CompactAt, "budget.compact_to", "budget.compact_at", "must be below budget.compact_at"},
		{c.Budget.FallbackMaxOutput < c.Budget.FallbackContextLimit, "budget.fallback_max_output", "budget.fallback_context_limit", "must be below budget.fallback_context_limit"},
		{c.Summary.Min <= c.Summary.Max, "summary.min", "summary.max", "must not be above summary.max"},
		{math.Abs(c.Retrieval.VectorWeight+c.Retrieval.KeywordWeight-1) < 1e-6, "retrieval.vector_weight", "retrieval.keyword_weight", "and retrieval.keyword_weight must sum to 1"},
		{c.Retrieval.TopK <= c.Retrieval.OverfetchK, "retrieval.top_k", "retrieval.overfetch_k", "must not be above retrieval.overfetch_k"},
		{c.Retrieval.MinKeep <= c.Retrieval.TopK, "retrieval.min_keep", "retrieval.top_k", "must not be above retrieval.top_k"},
		{c.General.DefaultModel == "" || c.knownName(c.General.DefaultModel), "general.default_model", "models", "names no model"},
		{c.Librarian.Model == "" || c.Librarian.Model == AutoModel || c.knownName(c.Librarian.Model), "librarian.model", "models", "names no model"},
	}
	for _, rule := range rules {
		if !rule.ok {
			r.failPair(rule.key, rule.other, rule.message)
		}
	}
}

// failPair reports key, at the line of whichever of the two is in the file.
func (r *reader) failPair(key, other, message string) {
	path := strings.Split(key, ".")
	present := path
	if _, ok := r.doc.lookup(path); !ok {
		present = strings.Split(other, ".")
	}
	r.problems = append(r.problems, Problem{File: r.file, Line: r.doc.line(present), Key: key, Message: message})
}

func dotted(path []string) string {
	parts := make([]string, len(path))
	for i, p := range path {
		parts[i] = tomlKey(p)
	}
	return strings.Join(parts, ".")
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// maxCompared is the length from which a name is too long to be a misspelt one.
const maxCompared = 64

// nearest returns the known name within two edits of a misspelt one, or "".
func nearest(name string, known []string) string {
	if len(name) > maxCompared {
		return ""
	}
	best, bestDistance := "", 3
	for _, k := range known {
		if d := lexical.Edits([]rune(name), []rune(k)); d < bestDistance {
			best, bestDistance = k, d
		}
	}
	return best
}
