// Package archtest holds the import rules of docs/ARCHITECTURE.md as data and checks the source tree against them.
// .golangci.yml has the same rules for the linter; this test needs no installed tool.
//
// Guarantee: a file of any platform that breaks a rule fails the package's test, because the test reads the source and
// not a build. A broken tree in testdata proves that each rule is enforced.
package archtest

// module is this module's import path.
const module = "contextinfinity"

// only is a rule that something may be imported only in a few places.
type only struct {
	name    string
	imports []string // import paths, including everything below each
	dirs    []string // allowed directories, including everything below each; "." is only the root package; empty: none
	tests   bool     // also applies to test files
	reason  string
}

// never is a rule that some directories may not import something.
type never struct {
	name    string
	in      []string
	except  []string // subdirectories of in to which the rule does not apply
	imports []string
	tests   bool
	reason  string
}

// within is a rule that some directories import only the standard library and a short list.
type within struct {
	name    string
	in      []string
	except  []string
	allowed []string
	reason  string
}

var onlyRules = []only{
	{
		name: "database", tests: true,
		imports: []string{"gorm.io", "github.com/glebarez", "github.com/pressly/goose", "modernc.org/sqlite", "database/sql"},
		dirs:    []string{"backend/store", "test/crash"}, // the harness checks the file without the program's code
		reason:  "the schema has one owner; no other package may depend on the database (SPEC 17)",
	},
	{
		name: "vectors", tests: true,
		imports: []string{"github.com/philippgille/chromem-go"},
		dirs:    []string{"backend/vectorindex"},
		reason:  "the index is disposable and rebuilt from the store; its engine must be replaceable",
	},
	{
		name: "vendor sdks", tests: true,
		imports: []string{"github.com/openai/openai-go", "github.com/anthropics/anthropic-sdk-go"},
		reason:  "our own encoders write the requests; an SDK would add minutes of compile time and no function (docs/adr/0010)",
	},
	{
		name: "mcp sdk", tests: true,
		imports: []string{"github.com/modelcontextprotocol/go-sdk", "github.com/google/jsonschema-go", "golang.org/x/oauth2"},
		dirs:    []string{"backend/mcpclient", "backend/mcpserver", "test"},
		reason:  "what the protocol leaves open is implemented around the SDK in two packages, so that it can be replaced (docs/adr/0011)",
	},
	{
		name: "window", tests: true,
		imports: []string{"github.com/wailsapp"},
		dirs:    []string{"backend/api", "backend/desktop", "."},
		reason:  "nothing below the api knows that a window exists",
	},
	{
		name: "session bus", tests: true,
		imports: []string{"github.com/godbus/dbus", "fyne.io/systray"},
		dirs:    []string{"backend/desktop", "test/harness"},
		reason:  "only the desktop package talks to the tray, the notifications and the file manager",
	},
	{
		name: "x server", tests: true,
		imports: []string{"github.com/jezek/xgb"},
		dirs:    []string{"backend/desktop/hotkey"},
		reason:  "the global shortcut is the only direct use of an X server (docs/adr/0018)",
	},
	{
		name: "keyring", tests: true,
		imports: []string{"github.com/zalando/go-keyring"},
		dirs:    []string{"backend/secrets"},
		reason:  "keys are read and written in one package, which redacts them and limits the time",
	},
	{
		name: "tiktoken", tests: true,
		imports: []string{"github.com/pkoukk", "github.com/tiktoken-go"},
		dirs:    []string{"backend/tokens"},
		reason:  "the meter, the trigger and the shrinker must use the same count, and plain tiktoken is quadratic on text without spaces",
	},
	{
		name: "pdf", tests: true,
		imports: []string{"github.com/ledongthuc/pdf"},
		dirs:    []string{"backend/documents"},
		reason:  "a hostile file can make the library loop or fill memory, so it only runs in a separate process",
	},
	{
		name: "encryption", tests: true,
		imports: []string{"filippo.io/age"},
		dirs:    []string{"backend/internal/seal"},
		reason:  "one package defines what is encrypted how, so that it can be reviewed (docs/encryption.md)",
	},
	{
		name: "confinement", tests: true,
		imports: []string{"github.com/landlock-lsm"},
		dirs:    []string{"backend/tools/builtin"},
		reason:  "it restricts the calling process, and only the process that runs a command may be restricted (docs/adr/0012)",
	},
	{
		name: "command line", tests: true,
		imports: []string{"github.com/spf13"},
		dirs:    []string{"backend/cli"},
		reason:  "the commands are a thin layer over the services that the window uses too",
	},
	{
		name: "rooms of the store", tests: true,
		imports: storePackages(),
		dirs:    []string{"backend/store", "test/process"},
		reason:  "other packages use package store; its subpackages are implementation details",
	},
	{
		name:    "adapters",
		imports: []string{module + "/backend/store", module + "/backend/vectorindex"},
		dirs: []string{
			"backend/app", "backend/services", "backend/store", "backend/vectorindex", "backend/internal/storetest",
		},
		reason: "adapters are chosen only in the composition root; other packages define the small interface that they need",
	},
	{
		name: "provider adapters",
		imports: []string{
			module + "/backend/llm/openai", module + "/backend/llm/anthropic",
			module + "/backend/llm/chatcompletions", module + "/backend/llm/recall",
		},
		dirs:   []string{"backend/app", "backend/llm/openai", "backend/llm/anthropic", "backend/llm/chatcompletions", "backend/llm/recall"},
		reason: "providers are chosen only in the composition root; other packages use llm.Provider",
	},
	{
		name: "composition", tests: true,
		imports: []string{module + "/backend/app"},
		dirs:    []string{"."},
		reason:  "there is one composition root, and only main runs it",
	},
	{
		name: "test kits",
		imports: []string{
			module + "/backend/llm/llmtest", module + "/backend/journal/journaltest", module + "/backend/internal/storetest", module + "/test",
			"testing", "go.uber.org/goleak", "pgregory.net/rapid", "github.com/johannesboyne/gofakes3", "golang.org/x/net/webdav",
		},
		dirs:   []string{"backend/llm/llmtest", "backend/journal/journaltest", "backend/internal/storetest", "backend/internal/archtest", "test"},
		reason: "test helpers are not shipped",
	},
}

var neverRules = []never{
	{
		name: "edges", tests: true,
		in: []string{"backend"},
		except: []string{
			"backend/app", "backend/services", "backend/api", "backend/cli", "backend/desktop", "backend/mcpserver",
		},
		imports: []string{module + "/backend/api", module + "/backend/cli", module + "/backend/desktop", module + "/backend/mcpserver"},
		reason:  "nothing below the api knows that a window or a command line exists",
	},
	{
		name: "list of services", in: []string{"backend"},
		except:  []string{"backend/app", "backend/api", "backend/cli", "backend/services"},
		imports: []string{module + "/backend/services"},
		reason:  "a service gets what it needs from the composition root, and never the list of all services",
	},
	{
		name:    "siblings",
		in:      []string{"backend/cli", "backend/desktop", "backend/mcpserver", "backend/services"},
		imports: []string{module + "/backend/api"},
		reason:  "the edges share services, not each other's shapes",
	},
	{
		name:    "api and cli",
		in:      []string{"backend/api"},
		imports: []string{module + "/backend/cli", module + "/backend/desktop"},
		reason:  "the edges share services, not each other's shapes",
	},
	{
		name: "pure", in: []string{"backend/prompt", "backend/chunking", "backend/ledger", "backend/transfer/bundle"},
		imports: []string{"os", "net", "syscall", "math/rand", "io/fs", "log", "log/slog", "context", "path/filepath", "database"},
		reason:  "values in, request out: the same input must give the same bytes, on any day and machine",
	},
	{
		name: "pure rendering", in: []string{"backend/transfer/render"}, // it may parse addresses: net/url
		imports: []string{"os", "net/http", "syscall", "math/rand", "io/fs", "log", "context", "path/filepath"},
		reason:  "a conversation in, bytes out: reading and writing are left to other packages",
	},
	{
		name: "root", tests: true, in: []string{"backend", "scripts"},
		imports: []string{module + "/frontend", module + "/scripts"},
		reason:  "the product does not depend on its tools",
	},
}

var withinRules = []within{
	{
		name: "main", in: []string{"."},
		allowed: []string{module + "/backend/app", module + "/backend/desktop", "github.com/wailsapp"},
		reason:  "main embeds files and runs Wails; the services are built in backend/app",
	},
	{
		name: "domain", in: []string{"backend/chat"}, allowed: []string{"github.com/oklog/ulid"},
		reason: "everything imports the domain, so the domain imports nothing",
	},
	{
		name: "contract", in: []string{"backend/llm"},
		except: []string{
			"backend/llm/openai", "backend/llm/anthropic", "backend/llm/chatcompletions", "backend/llm/recall",
			"backend/llm/llmtest",
		},
		allowed: []string{module + "/backend/chat", module + "/backend/prompt"},
		reason:  "the provider contract is small and independent of all providers",
	},
	{
		name: "assembly", in: []string{"backend/prompt"}, allowed: []string{module + "/backend/chat", module + "/backend/internal/display", module + "/backend/internal/scrub", module + "/backend/internal/untrusted"},
		reason: "assembly is a pure function of domain values",
	},
	{
		name: "chunking", in: []string{"backend/chunking"},
		allowed: []string{module + "/backend/chat", module + "/backend/internal/intent", module + "/backend/internal/display", module + "/backend/internal/lexical", "github.com/yuin/goldmark"},
		reason:  "chunking is a pure function of the transcript",
	},
	{
		name: "rendering", in: []string{"backend/transfer/render"},
		allowed: []string{module + "/backend/chat", module + "/backend/internal/display", "github.com/yuin/goldmark"},
		reason:  "an export is a pure function of the conversation, and depends on neither the store nor a user interface",
	},
	{
		name: "replay", in: []string{"backend/ledger"}, allowed: []string{module + "/backend/chat"},
		reason: "a replay is a pure function of the events: the store is checked against it, so it cannot depend on the store",
	},
	{
		name: "bundle", in: []string{"backend/transfer/bundle"},
		allowed: []string{module + "/backend/chat", module + "/backend/ledger", module + "/backend/internal/safezip", "github.com/klauspost/compress"},
		reason:  "a bundle is an encoded ledger: its content does not depend on who reads it, when or where",
	},
	{
		name: "imports", in: []string{"backend/importing"},
		allowed: []string{module + "/backend/chat", module + "/backend/internal/display", module + "/backend/internal/plainfile", module + "/backend/internal/seal", module + "/backend/transfer", module + "/backend/librarian"},
		reason:  "importing calls no model and no network: its access to the store is passed in",
	},
	{
		name: "tool policy", in: []string{"backend/tools"}, except: []string{"backend/tools/builtin"},
		allowed: []string{module + "/backend/chat", module + "/backend/internal/display", module + "/backend/internal/untrusted"},
		reason:  "one policy decides what a tool may do, whatever runs the tool: the sources of tools are passed in",
	},
	{
		name: "several answers", in: []string{"backend/answers"},
		allowed: []string{
			module + "/backend/chat", module + "/backend/turn", module + "/backend/branches", module + "/backend/internal/untrusted",
		},
		reason: "several answers are ordinary turns on ordinary branches, without a store or a runner of their own",
	},
	{
		name: "library", in: []string{"backend/library"}, allowed: []string{module + "/backend/chat"},
		reason: "the library works on values and files: the store and the models are passed in",
	},
	{
		name: "long work", in: []string{"backend/tasks"},
		allowed: []string{module + "/backend/chat", module + "/backend/internal/clock", module + "/backend/internal/panics", module + "/backend/internal/display"},
		reason:  "tasks are run without knowledge of their content: the code of each kind is passed in",
	},
}

// pureDirs may not read the clock: time is passed in as a value.
var pureDirs = []string{"backend/chat", "backend/prompt", "backend/chunking", "backend/ledger", "backend/transfer/bundle", "backend/transfer/render"}

// adapterFamilies contain adapters that must not import each other: no directory below one may import a sibling,
// except the test kit in tests.
var adapterFamilies = []string{"backend/llm", "backend/embedding"}

// storeLayers are the packages of the store in dependency order: each may import only those before it. None may import
// the store itself, which is their facade.
var storeLayers = []string{
	"migrations", "codec", "sqlite", "schema", "core", "delta", "queue", "events", "records", "search", "verify", "bundles", "imports",
	"deletion", "maintenance", "backup",
}

const storeDir = "backend/store"

func storePackages() []string {
	out := make([]string, len(storeLayers))
	for i, name := range storeLayers {
		out[i] = module + "/" + storeDir + "/" + name
	}
	return out
}

// maxFiles is the maximum number of Go files in a directory of backend, without tests.
const maxFiles = 30

// largePackages may contain more files. A directory that no longer does is removed from the list; none is added.
var largePackages = []string{"backend/api", "backend/chat", "backend/cli", "backend/desktop", "backend/retrieval", "backend/transfer", "backend/turn"}
