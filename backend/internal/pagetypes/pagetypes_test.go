package pagetypes

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const chatGo = `package chat

// Kind is the kind of a change.
type Kind string

const (
	KindList Kind = "list" // of sessions
	KindTurn Kind = "turn"
)
`

// apiGo has one of everything. A test appends invalid declarations.
const apiGo = `package api

import "contextinfinity/backend/chat"

func Bound(core *Core) []any { return []any{NewSessions(core)} }

// Row is a line of the list.
type Row struct {
	ID    string ` + "`json:\"id\"`" + ` // never empty
	Count int64  ` + "`json:\"count\"`" + `
	// Note is present
	// now and then.
	Note *Note ` + "`json:\"note\"`" + `
	Hint string ` + "`json:\"hint,omitempty\"`" + `
	Self *Row ` + "`json:\"self\"`" + `
}

// Note has lists.
type Note struct {
	Words []string ` + "`json:\"words\"`" + `
	Rows  []Row ` + "`json:\"rows\"`" + `
}

// Plain has none.
type Plain struct {
	Of *Plain ` + "`json:\"of\"`" + `
}

// Asked is only a parameter.
type Asked struct {
	Names []string ` + "`json:\"names\"`" + `
}

// Change reports a change.
type Change struct {
	Kind chat.Kind ` + "`json:\"kind\"`" + `
}

const EventChange = "ci:change"

// Sessions lists them.
type Sessions struct{ c *Core }

// List returns them. The name is a folder's, and */ ends nothing.
//
// Errors: none.
func (s *Sessions) List(folder string, limit, offset int) ([]Row, error) { return nil, nil }

func (s *Sessions) Set(values map[string]string, asked Asked, kind chat.Kind) error { return nil }

func (s *Sessions) One() Plain { return Plain{} }

func (s *Sessions) hidden() {}
`

func generate(t *testing.T, more string) (string, error) {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{"backend/api/dto.go": apiGo + more, "backend/chat/chat.go": chatGo} {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := Generate(root)
	return string(text), err
}

func TestGenerate(t *testing.T) {
	text, err := generate(t, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`/** Row is a line of the list. */
export interface Row {
  /** never empty */
  id: string;
  count: number;
  /** Note is present now and then. */
  note: Note | null;
  hint?: string;
  self: Row | null;
}
`, `export interface Events {
  'ci:change': Change;
}
`, `/** Sessions lists them. */
export interface SessionsService {
  /**
   * List returns them. The name is a folder's, and * / ends nothing.
   *
   * Errors: none.
   */
  list(folder: string, limit: number, offset: number): Promise<Row[]>;
  set(values: Record<string, string>, asked: Asked, kind: Kind): Promise<void>;
  one(): Promise<Plain>;
}
`, `export interface Services {
  readonly sessions: SessionsService;
}

export const serviceNames: readonly (keyof Services)[] = [
  'sessions',
];
`, `/** Kind is the kind of a change. */
export type Kind =
  /** of sessions */
  | 'list'
  | 'turn';
`,
		// Which types contain lists: not Plain, which has none, nor Asked, which is never returned.
		`= {
  Note: { rows: 'Row[]', words: '[]' },
  Row: { note: 'Note', self: 'Row' },
  results: {
    'Sessions.List': 'Row[]',
  },
};
`} {
		if !strings.Contains(text, want) {
			t.Errorf("missing:\n%s", want)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

func TestUnsupportedTypes(t *testing.T) {
	for more, want := range map[string]string{
		"type A struct { B chan int `json:\"b\"` }":                     "A.b: this kind of type is not supported",
		"type A struct { B url.URL `json:\"b\"` }":                      "the page has no type for url.URL",
		"type A struct { B any `json:\"b\"` }":                          "A.b: any is not a type for the page",
		"type A struct { B [][]string `json:\"b\"` }":                   "a list of string[] is not supported",
		"type A struct { B map[string][]string `json:\"b\"` }":          "a map of string[] is not supported",
		"type A struct { B string; C string `json:\"c\"` }":             "A: each field needs its own JSON name",
		"type A struct { *Row; C string `json:\"c\"` }":                 "A: this kind of embedded field is not supported",
		"type A struct { B Core `json:\"b\"` }\ntype Core struct{}":     "A.b: Core is neither a shape nor a string",
		"const EventLost = \"ci:lost\"":                                 "EventLost has no shape Lost",
		"func (s *Sessions) Two() (string, int, error) { panic(\"\") }": "Sessions.Two: more than one result",
	} {
		if _, err := generate(t, more); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", more, err, want)
		}
	}
}
