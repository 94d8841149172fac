package api

// ImportedInstructions are those that came with an imported conversation. They are sent
// once a person made them the session's system prompt.
type ImportedInstructions struct {
	Source string `json:"source"` // the program, as in SessionRow
	Text   string `json:"text"`   // empty: none came
	Cut    bool   `json:"cut"`    // the text is longer than is shown here, and than could be sent
}

// SessionSettings are a session's own choices.
type SessionSettings struct {
	SystemPrompt string `json:"systemPrompt"` // empty: the default instructions
	Temperature  string `json:"temperature"`  // a number from 0 to 2, or empty for the model's default
	Effort       string `json:"effort"`       // "", minimal, low, medium, high
}

// ModelView is a configured model.
type ModelView struct {
	Name         string `json:"name"`
	Provider     string `json:"provider"` // openai, anthropic, chatcompletions, recall
	ModelID      string `json:"modelId"`
	BaseURL      string `json:"baseUrl"`
	APIKeyEnv    string `json:"apiKeyEnv"`
	ContextLimit int    `json:"contextLimit"` // resolved
	MaxOutput    int    `json:"maxOutput"`
	LimitSource  string `json:"limitSource"` // "configured", "table: " and the matched prefix, "server", "unknown window"
	Ceiling      int    `json:"ceiling"`     // working set this model gets
	Stream       bool   `json:"stream"`
	// AllowPlainHTTP lets the key go to another machine over plain http.
	AllowPlainHTTP bool   `json:"allowPlainHttp"`
	Usable         bool   `json:"usable"` // recall, a key is there, or the server needs none
	Why            string `json:"why"`    // if not usable: in words
	Default        bool   `json:"default"`
	BuiltIn        bool   `json:"builtIn"`
	Options        string `json:"options"` // provider_options as JSON, "" if none
	// Images, Tools and Reasoning are what the model can do: "yes", "no", or "" where nobody knows.
	Images    string `json:"images"`
	Tools     string `json:"tools"`
	Reasoning string `json:"reasoning"`
	Favourite bool   `json:"favourite"`
	// Prices per million tokens; PriceSource is "configured", "server", "list " and its day, or "" where none is known.
	PriceInput  float64 `json:"priceInput"`
	PriceCached float64 `json:"priceCached"`
	PriceOutput float64 `json:"priceOutput"`
	PriceSource string  `json:"priceSource"`
}

// PresetView is a service or server that can be added by name.
type PresetView struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Protocol string `json:"protocol"`
	BaseURL  string `json:"baseUrl"` // RESOURCE in it is the person's to fill in
	Env      string `json:"env"`     // where its key usually is; "": it needs none
	Local    bool   `json:"local"`
	Note     string `json:"note"`
}

// PlaceView is a provider or server whose models can be listed.
type PlaceView struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Protocol string `json:"protocol"`
	BaseURL  string `json:"baseUrl"` // "": the vendor's own
	Env      string `json:"env"`
	Local    bool   `json:"local"`
}

// OfferView is a model that a place has. What nobody says is 0 or "".
type OfferView struct {
	ModelID     string  `json:"modelId"`
	Configured  string  `json:"configured"` // the name of the configured model for it
	Window      int     `json:"window"`
	MaxOutput   int     `json:"maxOutput"`
	Images      string  `json:"images"`
	Tools       string  `json:"tools"`
	Reasoning   string  `json:"reasoning"`
	PriceInput  float64 `json:"priceInput"`
	PriceOutput float64 `json:"priceOutput"`
	PriceSource string  `json:"priceSource"`
}

// AddedModel is a model that was added, and the models there are now.
type AddedModel struct {
	Name   string      `json:"name"`
	Models []ModelView `json:"models"`
}

// CostView is what answers cost, in the currency of their prices. An amount is "" where no price is known.
type CostView struct {
	Turn    string `json:"turn"`    // the newest turn, "0.0312"
	Session string `json:"session"` // all its turns
	Month   string `json:"month"`   // all sessions since the first of this month
	// Estimate: some of it is by a price list, which PricesDate dates, and not by configured prices.
	Estimate   bool   `json:"estimate"`
	PricesDate string `json:"pricesDate"`
	Unpriced   int    `json:"unpriced"` // turns of the month whose model has no price
	Budget     string `json:"budget"`   // a month; "": none
	// State is "" without a budget, "within", "near" or "over".
	State string `json:"state"`
}

// KeyView says where a provider's key is. The key itself never crosses.
type KeyView struct {
	Provider string   `json:"provider"` // "openai", "anthropic", or the key's name of a compatible server
	Source   string   `json:"source"`   // "keyring", "environment", "this run", ""
	Env      string   `json:"env"`      // the variable it is or would be read from
	BaseURL  string   `json:"baseUrl"`
	Models   []string `json:"models"`
	Needed   bool     `json:"needed"` // false: a server that is asked without one
	// KeyringOK is false where this system has no keyring: a key then lasts for this run.
	KeyringOK bool `json:"keyringOk"`
}

// KeyTest is the result of trying a key or server.
type KeyTest struct {
	OK      bool     `json:"ok"`
	Ms      int64    `json:"ms"`
	Message string   `json:"message"` // "Works, 3 models" or what happened and what to do
	Models  []string `json:"models"`  // model ids the server lists, at most 200
	// Provider is what the key turned out to be, by its form and answer.
	Provider string `json:"provider"`
	// Vendor and Server are whose key it is by its form and the address such keys are used at, where nothing
	// was sent because that is none of the services the program knows; else empty.
	Vendor string `json:"vendor"`
	Server string `json:"server"`
}

// LocalServer is a model server that answered on this machine.
type LocalServer struct {
	Name    string   `json:"name"` // "Ollama", "LM Studio", "a local server"
	BaseURL string   `json:"baseUrl"`
	Models  []string `json:"models"`
}

// Setting is one configuration key with all the window needs to edit it.
type Setting struct {
	Key     string   `json:"key"`   // "budget.working_set_tokens"
	Group   string   `json:"group"` // "General", "Context budget", ...
	Label   string   `json:"label"`
	Help    string   `json:"help"`  // what it does and its effect on the token budget
	Type    string   `json:"type"`  // "int", "float", "bool", "string", "choice", "list" (its value is a TOML array of texts on one line)
	Value   string   `json:"value"` // as TOML would print it, strings unquoted
	Default string   `json:"default"`
	Choices []string `json:"choices"`
	Min     float64  `json:"min"`
	Max     float64  `json:"max"`
	Unit    string   `json:"unit"`   // "tokens", "ms", "bytes", ""
	Origin  string   `json:"origin"` // "default", "file", "environment"
}

// SettingsView is the settings screen.
type SettingsView struct {
	Path     string    `json:"path"` // of config.toml
	DataDir  string    `json:"dataDir"`
	Settings []Setting `json:"settings"`
	// Error is a fault of the file: the previous good configuration (at start: the defaults) is in force.
	Error string `json:"error"`
}

// AutostartView is what the system starts at sign-in, as it is now.
type AutostartView struct {
	On    bool   `json:"on"`
	Other string `json:"other"` // path of another copy of the program that is started instead; "": it is this one
	Place string `json:"place"` // where the system keeps the entry
	Why   string `json:"why"`   // why it cannot be turned on; "": it can
}

// QuickKeyPhase is how far the desktop is with the keys of quick ask.
type QuickKeyPhase string

const (
	QuickKeyOff    QuickKeyPhase = "off"
	QuickKeyAsking QuickKeyPhase = "asking" // it has not answered; it may be asking the person
	QuickKeyBound  QuickKeyPhase = "bound"
	QuickKeyFailed QuickKeyPhase = "failed"
)

// QuickKeyView is what became of the keys that open quick ask from any window.
type QuickKeyView struct {
	Phase QuickKeyPhase `json:"phase"`
	Keys  string        `json:"keys"`  // that are wanted, "Ctrl+Alt+Space"; "": none
	Given string        `json:"given"` // of bound: as the desktop words them, which may be others; "": it does not say
	Why   string        `json:"why"`   // of failed
	Hint  string        `json:"hint"`  // of failed: what can be done
}

// UpdateVerdict compares this program with the newest release.
type UpdateVerdict string

const (
	UpdateNone    UpdateVerdict = ""        // nothing was found yet
	UpdateNewer   UpdateVerdict = "newer"   // there is a newer release
	UpdateCurrent UpdateVerdict = "current" // there is none
	UpdateUnknown UpdateVerdict = "unknown" // this copy does not know its version
)

// UpdateView is what the last look for a new version found in this run of the program.
type UpdateView struct {
	Feed    bool          `json:"feed"` // there is an address to ask
	Verdict UpdateVerdict `json:"verdict"`
	Newest  string        `json:"newest"` // version, "1.2.4"
	Page    string        `json:"page"`   // its https address, or ""
	At      int64         `json:"at"`     // when it was found, in milliseconds; 0: never
	Why     string        `json:"why"`    // why the last look found nothing; ""
	Hint    string        `json:"hint"`
}

// Startup is the first thing the window asks.
type Startup struct {
	Version  string `json:"version"`
	FirstRun bool   `json:"firstRun"` // no session yet and no choice made
	DataDir  string `json:"dataDir"`
	// Fatal: the data could not be opened; Message and Hint say what is safe. Nothing was overwritten.
	Fatal *ErrorView `json:"fatal"`
	// Lost: it could not, because the database is gone; an empty history can be started in its place.
	Lost bool `json:"lost"`
	// DamagedLog: it could not, because the write-ahead log is damaged; the log can be dropped.
	DamagedLog bool `json:"damagedLog"`
	// ReadOnly says why the data can only be read (a full disk, say); "": it can be written.
	ReadOnly    string `json:"readOnly"`
	ConfigError string `json:"configError"`
	LastSession string `json:"lastSession"`
	Quick       bool   `json:"quick"` // this window is the small one for a quick question
	Theme       string `json:"theme"` // system, light, dark, contrast
	TextZoom    int    `json:"textZoom"`
	// of code beside the rest of the text, percent
	CodeSize     int      `json:"codeSize"`
	CodeWrap     bool     `json:"codeWrap"`     // long lines of code are wrapped
	CodeNumbers  bool     `json:"codeNumbers"`  // lines of code are numbered
	Previews     bool     `json:"previews"`     // code can be shown as what it draws
	MessageWidth string   `json:"messageWidth"` // narrow, normal, wide, full
	Motion       string   `json:"motion"`       // system, reduced
	Language     string   `json:"language"`     // of the window: system, en, de, zh-CN
	Shortcuts    []string `json:"shortcuts"`    // keys that a person chose, "new=Ctrl+Shift+M"
	Durability   string   `json:"durability"`   // buffered, write_ahead
	MaxSessions  int      `json:"maxSessions"`  // that the list holds
}
