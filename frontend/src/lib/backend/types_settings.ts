/** The shapes of backend/api/dto_settings.go, field by field. */
import type { ErrorView } from './types';

/** ImportedInstructions are those that came with an imported conversation. They are sent once a person made them the session's system prompt. */
export interface ImportedInstructions {
  /** the program, as in SessionRow */
  source: string;
  /** empty: none came */
  text: string;
  /** the text is longer than is shown here, and than could be sent */
  cut: boolean;
}

/** SessionSettings are a session's own choices. */
export interface SessionSettings {
  /** empty: the default instructions */
  systemPrompt: string;
  /** a number from 0 to 2, or empty for the model's default */
  temperature: string;
  /** "", minimal, low, medium, high */
  effort: string;
}

/** ModelView is a configured model. */
export interface ModelView {
  name: string;
  /** openai, anthropic, chatcompletions, recall */
  provider: string;
  modelId: string;
  baseUrl: string;
  apiKeyEnv: string;
  /** resolved */
  contextLimit: number;
  maxOutput: number;
  /** "configured", "table: " and the matched prefix, "server", "unknown window" */
  limitSource: string;
  /** working set this model gets */
  ceiling: number;
  stream: boolean;
  /** lets the key go to another machine over plain http */
  allowPlainHttp: boolean;
  /** recall, a key is there, or the server needs none */
  usable: boolean;
  /** if not usable: in words */
  why: string;
  default: boolean;
  builtIn: boolean;
  /** provider_options as JSON, "" if none */
  options: string;
  /** what the model can do: "yes", "no", or "" where nobody knows */
  images: string;
  tools: string;
  reasoning: string;
  favourite: boolean;
  /** prices per million tokens */
  priceInput: number;
  priceCached: number;
  priceOutput: number;
  /** "configured", "server", "list " and its day, or "" where none is known */
  priceSource: string;
}

/** PresetView is a service or server that can be added by name. */
export interface PresetView {
  id: string;
  name: string;
  protocol: string;
  /** RESOURCE in it is the person's to fill in */
  baseUrl: string;
  /** where its key usually is; "": it needs none */
  env: string;
  local: boolean;
  note: string;
}

/** PlaceView is a provider or server whose models can be listed. */
export interface PlaceView {
  id: string;
  name: string;
  protocol: string;
  /** "": the vendor's own */
  baseUrl: string;
  env: string;
  local: boolean;
}

/** OfferView is a model that a place has. What nobody says is 0 or "". */
export interface OfferView {
  modelId: string;
  /** the name of the configured model for it */
  configured: string;
  window: number;
  maxOutput: number;
  images: string;
  tools: string;
  reasoning: string;
  priceInput: number;
  priceOutput: number;
  priceSource: string;
}

/** AddedModel is a model that was added, and the models there are now. */
export interface AddedModel {
  name: string;
  models: ModelView[];
}

/** CostView is what answers cost, in the currency of their prices. An amount is "" where no price is known. */
export interface CostView {
  /** the newest turn, "0.0312" */
  turn: string;
  /** all its turns */
  session: string;
  /** all sessions since the first of this month */
  month: string;
  /** some of it is by a price list, which PricesDate dates, and not by configured prices */
  estimate: boolean;
  pricesDate: string;
  /** turns of the month whose model has no price */
  unpriced: number;
  /** a month; "": none */
  budget: string;
  /** "" without a budget, "within", "near" or "over" */
  state: string;
}

/** KeyView says where a provider's key is. The key itself never crosses. */
export interface KeyView {
  /** "openai", "anthropic", or the key's name of a compatible server */
  provider: string;
  /** "keyring", "environment", "this run", "" */
  source: string;
  /** the variable it is or would be read from */
  env: string;
  baseUrl: string;
  models: string[];
  /** false: a server that is asked without one */
  needed: boolean;
  /** KeyringOK is false where this system has no keyring: a key then lasts for this run. */
  keyringOk: boolean;
}

/** KeyTest is the result of trying a key or server. */
export interface KeyTest {
  ok: boolean;
  ms: number;
  /** "Works, 3 models" or what happened and what to do */
  message: string;
  /** model ids the server lists, at most 200 */
  models: string[];
  /** Provider is what the key turned out to be, by its form and answer. */
  provider: string;
  /** Vendor and server are whose key it is by its form and the address such keys are used at, where nothing was sent because that is none of the services the program knows; else empty. */
  vendor: string;
  server: string;
}

/** LocalServer is a model server that answered on this machine. */
export interface LocalServer {
  /** "Ollama", "LM Studio", "a local server" */
  name: string;
  baseUrl: string;
  models: string[];
}

/** Setting is one configuration key with all the window needs to edit it. */
export interface Setting {
  /** "budget.working_set_tokens" */
  key: string;
  /** "General", "Context budget", ... */
  group: string;
  label: string;
  /** what it does and its effect on the token budget */
  help: string;
  /** "int", "float", "bool", "string", "choice", "list" (its value is a TOML array of texts on one line) */
  type: string;
  /** as TOML would print it, strings unquoted */
  value: string;
  default: string;
  choices: string[];
  min: number;
  max: number;
  /** "tokens", "ms", "bytes", "" */
  unit: string;
  /** "default", "file", "environment" */
  origin: string;
}

/** SettingsView is the settings screen. */
export interface SettingsView {
  /** of config.toml */
  path: string;
  dataDir: string;
  settings: Setting[];
  /** Error is a fault of the file: the previous good configuration (at start: the defaults) is in force. */
  error: string;
}

/** AutostartView is what the system starts at sign-in, as it is now. */
export interface AutostartView {
  on: boolean;
  /** path of another copy of the program that is started instead; "": it is this one */
  other: string;
  /** where the system keeps the entry */
  place: string;
  /** why it cannot be turned on; "": it can */
  why: string;
}

/** Startup is the first thing the window asks. */
export interface Startup {
  version: string;
  /** no session yet and no choice made */
  firstRun: boolean;
  dataDir: string;
  /** Fatal: the data could not be opened; Message and Hint say what is safe. Nothing was overwritten. */
  fatal: ErrorView | null;
  /** Lost: it could not, because the database is gone; an empty history can be started in its place. */
  lost: boolean;
  /** DamagedLog: it could not, because the write-ahead log is damaged; the log can be dropped. */
  damagedLog: boolean;
  /** ReadOnly says why the data can only be read (a full disk, say); "": it can be written. */
  readOnly: string;
  configError: string;
  lastSession: string;
  /** system, light, dark, contrast */
  theme: string;
  textZoom: number;
  /** of code beside the rest of the text, percent */
  codeSize: number;
  /** long lines of code are wrapped */
  codeWrap: boolean;
  /** lines of code are numbered */
  codeNumbers: boolean;
  /** code can be shown as what it draws */
  previews: boolean;
  /** narrow, normal, wide, full */
  messageWidth: string;
  /** system, reduced */
  motion: string;
  /** keys that a person chose, "new=Ctrl+Shift+M" */
  shortcuts: string[];
  /** of the window: system, en, de, zh-CN */
  language: string;
  /** buffered, write_ahead */
  durability: string;
  /** that the list holds */
  maxSessions: number;
}
