// Package archtest holds the import rules of docs/ARCHITECTURE.md as data and checks the source tree against them.
// .golangci.yml has the same rules for the linter; this test needs no tool to be installed.
//
// Guarantee: a file that breaks a rule fails the package's test, on the files of every platform, because it reads
// source and not a build. A broken tree in testdata proves that each rule is enforced.
package archtest

// module is this module's import path.
const module = "contextinfinity"

// only is a rule that something may be imported only in a few places.
type only struct {
	name    string
	imports []string // import paths, including everything below each
	places  []string // directories, including everything below each; "." is the root package only; empty: nowhere
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

// within is a rule that some directories import nothing but the standard
// library and a short list.
type within struct {
	name   string
	in     []string
	except []string
	may    []string
	reason string
}

var onlyRules = []only{
	{
		name: "database", tests: true,
		imports: []string{"gorm.io", "github.com/glebarez", "github.com/pressly/goose", "modernc.org/sqlite", "database/sql"},
		places:  []string{"backend/store", "scripts/crash"}, // the harness checks the file without the program's code
		reason:  "the schema has one owner; nothing else may know which store it has (SPEC 17)",
	},
	{
		name: "vectors", tests: true,
		imports: []string{"github.com/philippgille/chromem-go"},
		places:  []string{"backend/vectorindex"},
		reason:  "the index is disposable and rebuilt from the store; its engine must be replaceable",
	},
	{
		name: "vendor sdks", tests: true,
		imports: []string{"github.com/openai/openai-go", "github.com/anthropics/anthropic-sdk-go"},
		reason:  "a call is one request with bytes that our own encoders make; an SDK adds minutes of compiling and nothing to it (docs/adr/0010)",
	},
	{
		name: "mcp sdk", tests: true,
		imports: []string{"github.com/modelcontextprotocol/go-sdk", "github.com/google/jsonschema-go", "golang.org/x/oauth2"},
		places:  []string{"backend/mcpclient", "backend/mcpserver", "test"},
		reason:  "what the protocol leaves open is implemented around the SDK in two packages, so that it can be replaced (docs/adr/0011)",
	},
	{
		name: "window", tests: true,
		imports: []string{"github.com/wailsapp"},
		places:  []string{"backend/api", "backend/desktop"},
		reason:  "nothing below the api knows that a window exists",
	},
	{
		name: "session bus", tests: true,
		imports: []string{"github.com/godbus/dbus", "fyne.io/systray"},
		places:  []string{"backend/desktop"},
		reason:  "tray, notifications and file manager are the desktop's; no other part talks to it",
	},
	{
		name: "x server", tests: true,
		imports: []string{"github.com/jezek/xgb"},
		places:  []string{"backend/desktop/hotkey"},
		reason:  "a key of the whole desktop is all that the program asks an X server for itself (docs/adr/0018)",
	},
	{
		name: "keyring", tests: true,
		imports: []string{"github.com/zalando/go-keyring"},
		places:  []string{"backend/secrets"},
		reason:  "keys have one door, which redacts and times out",
	},
	{
		name: "tiktoken", tests: true,
		imports: []string{"github.com/pkoukk", "github.com/tiktoken-go"},
		places:  []string{"backend/tokens"},
		reason:  "meter, trigger and shrinker must read the same number, and raw tiktoken is quadratic on unbroken runs",
	},
	{
		name: "pdf", tests: true,
		imports: []string{"github.com/ledongthuc/pdf"},
		places:  []string{"backend/documents"},
		reason:  "the library can be made to loop and to fill memory; it runs in a process of its own alone",
	},
	{
		name: "confinement", tests: true,
		imports: []string{"github.com/landlock-lsm"},
		places:  []string{"backend/tools/builtin"},
		reason:  "it restricts the process that it is called in; only the process that runs a command may be (docs/adr/0012)",
	},
	{
		name: "command line", tests: true,
		imports: []string{"github.com/spf13"},
		places:  []string{"backend/cli"},
		reason:  "verbs are a thin edge over the services the window uses",
	},
	{
		name: "rooms of the store", tests: true,
		imports: storeRooms(),
		places:  []string{"backend/store", "test/process"},
		reason:  "whoever needs the store calls package store; how it keeps things is its own affair",
	},
	{
		name:    "adapters",
		imports: []string{module + "/backend/store", module + "/backend/vectorindex"},
		places:  []string{"backend/app", "backend/store", "backend/vectorindex", "backend/internal/storetest"},
		reason:  "adapters are chosen in the composition root alone; others own the small interface they need",
	},
	{
		name: "provider adapters",
		imports: []string{
			module + "/backend/llm/openai", module + "/backend/llm/anthropic",
			module + "/backend/llm/chatcompletions", module + "/backend/llm/recall",
		},
		places: []string{"backend/app", "backend/llm/openai", "backend/llm/anthropic", "backend/llm/chatcompletions", "backend/llm/recall"},
		reason: "providers are chosen only in the composition root; all others know llm.Provider",
	},
	{
		name: "composition", tests: true,
		imports: []string{module + "/backend/app"},
		places:  []string{"."},
		reason:  "there is one composition root, and main alone runs it",
	},
	{
		name: "test kits",
		imports: []string{
			module + "/backend/llm/llmtest", module + "/backend/journal/journaltest", module + "/backend/internal/storetest", module + "/test",
			"testing", "go.uber.org/goleak", "pgregory.net/rapid",
		},
		places: []string{"backend/llm/llmtest", "backend/journal/journaltest", "backend/internal/storetest", "backend/internal/archtest", "test", "scripts/crash"},
		reason: "what exists for tests is not shipped",
	},
}

var neverRules = []never{
	{
		name: "edges", tests: true,
		in:      []string{"backend"},
		except:  []string{"backend/app", "backend/api", "backend/cli", "backend/desktop", "backend/mcpserver"},
		imports: []string{module + "/backend/api", module + "/backend/cli", module + "/backend/desktop", module + "/backend/mcpserver"},
		reason:  "nothing below the api knows that a window or a command line exists",
	},
	{
		name:    "siblings",
		in:      []string{"backend/cli", "backend/desktop", "backend/mcpserver"},
		imports: []string{module + "/backend/api"},
		reason:  "the edges share services, not each other's shapes",
	},
	{
		name:    "api and cli",
		in:      []string{"backend/api"},
		imports: []string{module + "/backend/cli", module + "/backend/desktop", module + "/backend/mcpserver"},
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
		reason:  "a conversation in, bytes out: where they come from and go is for others to know",
	},
	{
		name: "root", tests: true, in: []string{"backend", "scripts"},
		imports: []string{module + "/frontend", module + "/scripts"},
		reason:  "the product does not stand on its tools",
	},
}

var withinRules = []within{
	{
		name: "main", in: []string{"."}, may: []string{module + "/backend/app"},
		reason: "main holds what Go compiles in from below the root; the services are built in backend/app",
	},
	{
		name: "domain", in: []string{"backend/chat"}, may: []string{"github.com/oklog/ulid"},
		reason: "everything imports the domain, so the domain imports nothing",
	},
	{
		name: "contract", in: []string{"backend/llm"},
		except: []string{
			"backend/llm/openai", "backend/llm/anthropic", "backend/llm/chatcompletions", "backend/llm/recall",
			"backend/llm/llmtest",
		},
		may:    []string{module + "/backend/chat", module + "/backend/prompt"},
		reason: "the provider contract is small, and knows no provider",
	},
	{
		name: "assembly", in: []string{"backend/prompt"}, may: []string{module + "/backend/chat", module + "/backend/internal/display", module + "/backend/internal/scrub", module + "/backend/internal/untrusted"},
		reason: "assembly is a pure function of domain values",
	},
	{
		name: "chunking", in: []string{"backend/chunking"},
		may:    []string{module + "/backend/chat", module + "/backend/internal/intent", module + "/backend/internal/display", module + "/backend/internal/lexical", "github.com/yuin/goldmark"},
		reason: "chunking is a pure function of the transcript",
	},
	{
		name: "rendering", in: []string{"backend/transfer/render"},
		may:    []string{module + "/backend/chat", module + "/backend/internal/display", "github.com/yuin/goldmark"},
		reason: "what is exported is a pure function of the conversation, and knows neither store nor edge",
	},
	{
		name: "replay", in: []string{"backend/ledger"}, may: []string{module + "/backend/chat"},
		reason: "a replay is a pure function of the events: it is what the store is checked against, so it cannot know the store",
	},
	{
		name: "bundle", in: []string{"backend/transfer/bundle"},
		may:    []string{module + "/backend/chat", module + "/backend/ledger", module + "/backend/internal/safezip", "github.com/klauspost/compress"},
		reason: "a bundle is bytes of a ledger: what it says does not depend on who reads it, when or where",
	},
	{
		name: "imports", in: []string{"backend/importing"},
		may:    []string{module + "/backend/chat", module + "/backend/internal/display", module + "/backend/transfer", module + "/backend/librarian"},
		reason: "importing asks no model and fetches nothing: what it needs of the store is given to it",
	},
	{
		name: "tool policy", in: []string{"backend/tools"}, except: []string{"backend/tools/builtin"},
		may:    []string{module + "/backend/chat", module + "/backend/internal/display", module + "/backend/internal/untrusted"},
		reason: "what a tool may do is decided by one policy, whatever runs the tool: sources are given to it",
	},
	{
		name: "several answers", in: []string{"backend/answers"},
		may:    []string{module + "/backend/chat", module + "/backend/turn", module + "/backend/internal/untrusted"},
		reason: "asking several models is ordinary turns on ordinary branches: it has no store and no runner of its own",
	},
	{
		name: "library", in: []string{"backend/library"}, may: []string{module + "/backend/chat"},
		reason: "what is kept for many sessions is values and files: the store and the models are given to it",
	},
	{
		name: "long work", in: []string{"backend/tasks"},
		may:    []string{module + "/backend/chat", module + "/backend/internal/clock", module + "/backend/internal/panics", module + "/backend/internal/display"},
		reason: "long work is carried out whatever it is: each kind is given to it by who knows it",
	},
}

// purePlaces may not read the clock: time is passed in as a value.
var purePlaces = []string{"backend/chat", "backend/prompt", "backend/chunking", "backend/ledger", "backend/transfer/bundle", "backend/transfer/render"}

// adapterFamilies contain adapters that must not import each other: no directory below one may import a sibling,
// except the test kit in tests.
var adapterFamilies = []string{"backend/llm", "backend/embedding"}

// storeFloors are the packages of the store in dependency order: each may import only those before it, and none the
// store itself, which is their facade.
var storeFloors = []string{
	"migrations", "codec", "sqlite", "schema", "core", "delta", "queue", "events", "records", "search", "verify", "bundles", "imports",
	"deletion", "upkeep", "backup",
}

const storePlace = "backend/store"

func storeRooms() []string {
	out := make([]string, len(storeFloors))
	for i, name := range storeFloors {
		out[i] = module + "/" + storePlace + "/" + name
	}
	return out
}

// maxFiles is the maximum number of Go files in a directory of backend, without tests.
const maxFiles = 30

// largeRooms may contain more files. A directory that no longer does is removed from the list; none is added.
var largeRooms = []string{"backend/api", "backend/chat", "backend/cli", "backend/desktop", "backend/retrieval", "backend/transfer", "backend/turn"}
