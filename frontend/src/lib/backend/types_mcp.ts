/** The shapes of backend/api/dto_mcp.go, field by field. */
import type { BlockView } from './types';

/** ServersPanel is the page about MCP servers. */
export interface ServersPanel {
  rev: number;
  /** tools.mode: servers are started for conversations only where it is "enabled" */
  mode: string;
  servers: ServerView[];
  /** KeyringOK: secrets are kept in the system's keyring; otherwise in this run alone. */
  keyringOK: boolean;
}

/** ServerView is a configured MCP server and how it is. */
export interface ServerView {
  name: string;
  /** "stdio": a program on this machine; "http": an address */
  kind: string;
  enabled: boolean;
  /** State is "off", "idle" (it starts when it is first needed), "starting", "ready", "sign_in" (it wants a person to sign in), "waiting" (it failed and is started again by itself at RetryAt), "failed". */
  state: string;
  /** the state in a sentence */
  words: string;
  /** why it failed last; empty since it is ready */
  lastError: string;
  retryAt: number;
  startedAt: number;
  /** What the server says of itself; text of others. */
  title: string;
  version: string;
  protocol: string;
  instructions: string;
  tools: number;
  /** it offers some */
  prompts: number;
  resources: number;
  /** Problems are what it offers and cannot be used, each in a sentence. */
  problems: ServerProblemView[];
  /** tokens of it are kept */
  signedIn: boolean;
  settings: ServerSettings;
  /** Secrets are those that its settings name, and where each is kept. */
  secrets: ServerSecretView[];
}

/** ServerProblemView is something of a server that cannot be used, and why. */
export interface ServerProblemView {
  /** the name of a tool, or empty */
  subject: string;
  message: string;
}

/** ServerSecretView is a secret of a server: never what it is. */
export interface ServerSecretView {
  name: string;
  /** "keyring", "this run", or "": it has no value yet */
  kept: string;
}

/** ServerSettings are [mcp.servers.NAME] of config.toml. Values may hold ${secret:NAME}, which is taken from the keyring, and ${env:NAME}, from the environment of the program. */
export interface ServerSettings {
  name: string;
  enabled: boolean;
  /** of a program; empty with an address */
  command: string;
  args: string[];
  /** empty: the home directory */
  cwd: string;
  url: string;
  /** of a call; 0: tools.call_timeout_s */
  timeoutS: number;
  env: ServerValue[];
  headers: ServerValue[];
  /** for servers with which programs are registered by hand; their secret is oauth_client_secret */
  oauthClientId: string;
  /** of the address to return to that was registered; 0: any */
  oauthPort: number;
}

/** ServerValue is a variable of the environment, a header, or an answer. Where it is Secret, Value goes to the keyring and never comes back: an empty one leaves what is kept. */
export interface ServerValue {
  name: string;
  value: string;
  secret: boolean;
}

/** ServerLog is what a server wrote last, the oldest first. */
export interface ServerLog {
  name: string;
  lines: ServerLogLine[];
  /** lines before these that are not kept any more */
  dropped: number;
}

/** ServerLogLine is a line of a server's log. From is "stderr", "stdout" (a line that is no message of the protocol), "server" (a log message of the protocol) or "program" (what became of it). */
export interface ServerLogLine {
  at: number;
  from: string;
  text: string;
}

/** ServerImport is what was found in a configuration of another program, or in a bundle. Nothing is added before ApplyImport. */
export interface ServerImport {
  id: string;
  /** what it is, in words: "a bundle", "mcpServers JSON" */
  from: string;
  servers: ImportedServer[];
  /** entries that cannot be used, each in a sentence */
  problems: string[];
}

/** ImportedServer is a server that could be added. */
export interface ImportedServer {
  /** its name is one that can be used here */
  settings: ServerSettings;
  /** its name there */
  original: string;
  /** a server of this name is configured: adding replaces it */
  exists: boolean;
  /** of a bundle: what it says of itself */
  about: string;
  /** what a person should know before adding it */
  notes: string[];
  /** what it needs to be told */
  asks: ServerQuestion[];
}

/** ServerQuestion is something that a server needs to be told before it can start. */
export interface ServerQuestion {
  key: string;
  title: string;
  description: string;
  /** "string", "number", "boolean", "directory", "file" */
  type: string;
  required: boolean;
  secret: boolean;
  /** several values, one in a line */
  multiple: boolean;
  default: string;
  /** what was imported has a value, which is taken if the answer is empty; a secret one is not shown */
  known: boolean;
  choices: string[];
}

/** ServerImportChoice adds servers of an import: those that are named, under the names given. */
export interface ServerImportChoice {
  id: string;
  servers: ServerImportedName[];
}

/** ServerImportedName says how a server of an import is added. */
export interface ServerImportedName {
  original: string;
  name: string;
  enabled: boolean;
  /** where a server of this name is configured */
  replace: boolean;
  /** by ServerQuestion.Key */
  answers: ServerValue[];
}

/** ServerPrompts are the prompts that servers offer now, for the composer. */
export interface ServerPrompts {
  rev: number;
  prompts: ServerPromptView[];
}

/** ServerPromptView is a prompt of a server. */
export interface ServerPromptView {
  server: string;
  name: string;
  title: string;
  description: string;
  arguments: PromptArgumentView[];
}

/** PromptArgumentView is something that a prompt wants to be told. */
export interface PromptArgumentView {
  name: string;
  title: string;
  description: string;
  required: boolean;
}

/** PromptText is a prompt with its arguments filled in: text of others, to be looked at before it is sent. */
export interface PromptText {
  server: string;
  name: string;
  description: string;
  messages: PromptMessageView[];
}

/** PromptMessageView is a message of a prompt. */
export interface PromptMessageView {
  /** "user", "assistant" */
  role: string;
  blocks: BlockView[];
}

/** ServerResources are the resources that servers offer now. */
export interface ServerResources {
  rev: number;
  resources: ServerResourceView[];
}

/** ServerResourceView is a resource of a server. Template: its URI has places in braces to be filled in. */
export interface ServerResourceView {
  server: string;
  uri: string;
  name: string;
  title: string;
  description: string;
  mediaType: string;
  /** 0: it does not say */
  bytes: number;
  template: boolean;
}

/** ResourceText is what a resource holds: texts and images. */
export interface ResourceText {
  server: string;
  uri: string;
  name: string;
  blocks: BlockView[];
}

/** Elicitations are the questions of servers that wait for an answer, the oldest first. */
export interface Elicitations {
  rev: number;
  asked: ElicitationView[];
}

/** ElicitationView is a question of a server. Mode "form" asks for Fields; mode "url" asks that a page be opened: the whole address is shown, and it is opened only when it is accepted. */
export interface ElicitationView {
  id: string;
  server: string;
  mode: string;
  message: string;
  url: string;
  /** of URL */
  host: string;
  fields: ElicitationField[];
  askedAt: number;
}

/** ElicitationField is one field of a form. */
export interface ElicitationField {
  name: string;
  title: string;
  description: string;
  /** "string", "number", "integer", "boolean", "choice", "choices" */
  type: string;
  /** of a string: "email", "uri", "date", "date-time" or "" */
  format: string;
  required: boolean;
  default: string[];
  choices: ElicitationChoice[];
  /** Bounds as the server wrote them, empty where there are none: of the number, the length of the text, or how many are chosen. */
  min: string;
  max: string;
}

/** ElicitationChoice is a value that may be chosen. */
export interface ElicitationChoice {
  value: string;
  title: string;
}

/** ElicitationAnswer answers a question: "accept" (with Values of a form), "decline", "cancel". */
export interface ElicitationAnswer {
  id: string;
  action: string;
  values: ElicitationValue[];
}

/** ElicitationValue is the value of a field; several for "choices", "true" or "false" for "boolean". */
export interface ElicitationValue {
  name: string;
  values: string[];
}
