package api

import (
	"contextinfinity/backend/chat"
	"contextinfinity/backend/config"
	"contextinfinity/backend/models"
)

// ImportedInstructions are the instructions of an imported conversation. They are sent only if the user adopts them as
// the session's system prompt.
type ImportedInstructions struct {
	Source string `json:"source"` // the program, as in SessionRow
	Text   string `json:"text"`   // empty: none
	Cut    bool   `json:"cut"`    // the text is longer than shown here, and too long to be sent
}

// SessionSettings are a session's own settings.
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
	Ceiling      int    `json:"ceiling"`     // this model's working set
	Stream       bool   `json:"stream"`
	// KeyHeader is the header that carries the key; empty: the protocol's own. Headers are sent with every request, each as
	// "NAME: value"; secrets in them are placeholders, ${env:NAME} or ${secret:NAME}.
	KeyHeader string   `json:"keyHeader"`
	Headers   []string `json:"headers"`
	// AllowPlainHTTP allows sending the key to another machine over plain http.
	AllowPlainHTTP bool        `json:"allowPlainHttp"`
	Usable         bool        `json:"usable"` // recall, a key exists, or the server needs none
	Reason         chat.Phrase `json:"reason"` // why it is not usable
	Default        bool        `json:"default"`
	BuiltIn        bool        `json:"builtIn"`
	Options        string      `json:"options"` // provider_options as JSON, "" if none
	// Images, Tools and Reasoning are what the model supports: "yes", "no", or "" if unknown.
	Images    string `json:"images"`
	Tools     string `json:"tools"`
	Reasoning string `json:"reasoning"`
	Favourite bool   `json:"favourite"`
	Local     bool   `json:"local"` // its server is on this machine
	// Prices in US dollars per million tokens; PriceSource is "configured", "server", "list " and its date, or "" if
	// unknown. If only one of PriceInput and PriceOutput is configured, it is the source of the other prices.
	PriceInput  float64 `json:"priceInput"`
	PriceCached float64 `json:"priceCached"`
	PriceOutput float64 `json:"priceOutput"`
	PriceSource string  `json:"priceSource"`
	// OwnPrice has the configured prices; absent: none is configured. Ignored when a model is saved.
	OwnPrice *OwnPrice `json:"ownPrice,omitempty"`
}

// OwnPrice has a model's configured prices, in US dollars per million tokens; 0: not configured.
type OwnPrice struct {
	Input  float64 `json:"input"`
	Cached float64 `json:"cached"`
	Output float64 `json:"output"`
}

// PresetView is a service or server that can be added by name.
type PresetView = models.Preset

// PlaceView is a provider or server whose models can be listed.
type PlaceView = models.Place

// OfferView is a model that a place offers. Unknown values are 0 or "".
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

// AddedModel is an added model, and the resulting list of models.
type AddedModel struct {
	Name   string      `json:"name"`
	Models []ModelView `json:"models"`
}

// CostView is the cost of answers and of background work (summaries and titles by a model), in US dollars. An amount
// without a known price is null.
type CostView struct {
	Turn    *float64 `json:"turn"`    // the newest turn, without background work
	Session *float64 `json:"session"` // all turns of the session, with background work
	Month   *float64 `json:"month"`   // all sessions since the first of this month, with background work
	// The part of Session and Month that is background work; null: none with a known price.
	SessionBackground *float64 `json:"sessionBackground"`
	MonthBackground   *float64 `json:"monthBackground"`
	// Estimate: a part is based on a price list, dated PricesDate, instead of configured prices.
	Estimate   bool    `json:"estimate"`
	PricesDate string  `json:"pricesDate"`
	Unpriced   int     `json:"unpriced"` // turns of the month whose model has no price
	Budget     float64 `json:"budget"`   // per month; 0: none
	Today      bool    `json:"today"`    // a part uses today's prices, because none were stored with the answers
	// State is "" without a budget, "within", "near" or "over".
	State string `json:"state"`
}

// KeyView says where a provider's key is stored. The key itself is never returned.
type KeyView struct {
	Provider string   `json:"provider"` // "openai", "anthropic", or the name of a compatible server's key
	Source   string   `json:"source"`   // "keyring", "environment", "this run", ""
	Env      string   `json:"env"`      // the environment variable of the key
	BaseURL  string   `json:"baseUrl"`
	Models   []string `json:"models"`
	Needed   bool     `json:"needed"` // false: a server that needs none
	// KeyringOK is false if this system has no keyring: a key is then kept only for this run.
	KeyringOK bool `json:"keyringOk"`
}

// KeyTest is the result of testing a key or server.
type KeyTest struct {
	OK      bool        `json:"ok"`
	Ms      int64       `json:"ms"`
	Message chat.Phrase `json:"message"` // "Works, 3 models" or what happened and what to do
	Models  []string    `json:"models"`  // model ids the server lists, at most 200
	// Provider is the key's provider, detected from its form and the response.
	Provider string `json:"provider"`
	// Vendor and Server are set if the key's form belongs to a service that the program does not know, so nothing was
	// sent; otherwise empty.
	Vendor string `json:"vendor"`
	Server string `json:"server"`
}

// LocalServer is a model server that responded on this machine.
type LocalServer = models.LocalServer

// Setting is one configuration key with everything needed to edit it.
type Setting = config.SettingInfo

// SettingsView is the settings screen.
type SettingsView struct {
	Path     string    `json:"path"` // of config.toml
	DataDir  string    `json:"dataDir"`
	Settings []Setting `json:"settings"`
	// Error is a problem of the file: the previous valid configuration (at the start: the defaults) is in effect.
	Error string `json:"error"`
	// Defaults: it was invalid from the start, so the default settings are in effect.
	Defaults bool `json:"defaults"`
}

// AutostartView is the current state of starting at sign-in.
type AutostartView struct {
	On     bool        `json:"on"`
	Other  string      `json:"other"`  // path of another copy of the program that is started instead; "": it is this one
	Place  string      `json:"place"`  // where the system keeps the entry
	Reason chat.Phrase `json:"reason"` // why it cannot be enabled; "": it can
}

// QuickKeyPhase is the state of the quick ask keys.
type QuickKeyPhase string

const (
	QuickKeyOff    QuickKeyPhase = "off"
	QuickKeyAsking QuickKeyPhase = "asking" // waiting for the desktop; it may be asking the user
	QuickKeyBound  QuickKeyPhase = "bound"
	QuickKeyFailed QuickKeyPhase = "failed"
)

// QuickKeyView is the state of the keys that open quick ask from any window.
type QuickKeyView struct {
	Phase  QuickKeyPhase `json:"phase"`
	Keys   string        `json:"keys"`   // the requested keys, "Ctrl+Alt+Space"; "": none
	Given  string        `json:"given"`  // for bound: the desktop's description of the keys, possibly different ones; "": unknown
	Reason chat.Phrase   `json:"reason"` // for failed: what happened
	Hint   chat.Phrase   `json:"hint"`   // for failed: what to do
}

// UpdateVerdict is the result of comparing this program with the newest release.
type UpdateVerdict string

const (
	UpdateNone    UpdateVerdict = ""        // not checked yet
	UpdateNewer   UpdateVerdict = "newer"   // there is a newer release
	UpdateCurrent UpdateVerdict = "current" // there is none
	UpdateUnknown UpdateVerdict = "unknown" // this copy does not know its version
)

// UpdateView is the result of the last check for updates in this run of the program.
type UpdateView struct {
	Feed    bool          `json:"feed"` // a feed is configured
	Verdict UpdateVerdict `json:"verdict"`
	Newest  string        `json:"newest"` // version, "1.2.4"
	Page    string        `json:"page"`   // its https address, or ""
	At      int64         `json:"at"`     // when it was checked, in milliseconds; 0: never
	Reason  chat.Phrase   `json:"reason"` // why the last check failed; "": it did not
	Hint    chat.Phrase   `json:"hint"`
}

// Startup is the response to the window's first request.
type Startup struct {
	Version  string `json:"version"`
	FirstRun bool   `json:"firstRun"` // no session yet and setup not completed
	DataDir  string `json:"dataDir"`
	// Fatal: the data could not be opened; Message and Hint say what is safe. Nothing was overwritten.
	Fatal *ErrorView `json:"fatal"`
	// Lost: the database is missing; a new history can be started.
	Lost bool `json:"lost"`
	// DamagedLog: the write-ahead log is damaged; it can be dropped.
	DamagedLog bool `json:"damagedLog"`
	// ReadOnly says why the data is read-only (a full disk, for example); "": it is not.
	ReadOnly    string `json:"readOnly"`
	ConfigError string `json:"configError"`
	ConfigPath  string `json:"configPath"`
	// ConfigDefaults: the file was invalid from the start, so the default settings are in effect.
	ConfigDefaults bool   `json:"configDefaults"`
	LastSession    string `json:"lastSession"`
	Quick          bool   `json:"quick"` // this window is the small one for a quick question
	Theme          string `json:"theme"` // system, light, dark, contrast
	TextZoom       int    `json:"textZoom"`
	// CodeSize is the size of code relative to the other text, in percent.
	CodeSize     int      `json:"codeSize"`
	CodeWrap     bool     `json:"codeWrap"`     // long lines of code are wrapped
	CodeNumbers  bool     `json:"codeNumbers"`  // lines of code are numbered
	Previews     bool     `json:"previews"`     // diagrams, pictures and HTML in answers can be rendered
	MessageWidth string   `json:"messageWidth"` // narrow, normal, wide, full
	Motion       string   `json:"motion"`       // system, reduced
	Language     string   `json:"language"`     // of the window: system, en, de, zh-CN
	Shortcuts    []string `json:"shortcuts"`    // keys that the user chose, "new=Ctrl+Shift+M"
	Durability   string   `json:"durability"`   // buffered, write_ahead
	MaxSessions  int      `json:"maxSessions"`  // the most that the list shows
}
