/** The shapes of backend/api/dto_programs.go, field by field. */

/** ProgramsPanel is the page about other programs that use this memory through MCP. */
export interface ProgramsPanel {
  rev: number;
  http: ProgramsHTTPView;
  clients: ProgramClientView[];
  /** Snippets are what is pasted into other programs so that they find this one. */
  snippets: ProgramSnippetView[];
  /** that there are to choose from */
  folders: string[];
}

/** ProgramsHTTPView is the server over HTTP, which serves this computer alone. */
export interface ProgramsHTTPView {
  /** mcp.server.http */
  on: boolean;
  running: boolean;
  url: string;
  /** why it does not run although it is on */
  problem: string;
}

/** ProgramClientView is another program and what it may see. */
export interface ProgramClientView {
  name: string;
  /** Scope is "asked" (it connected and waits for an answer; it sees nothing), "none", "all" or "chosen" (Sessions and Folders). */
  scope: string;
  sessions: ProgramSessionView[];
  folders: string[];
  /** it may write notes */
  remember: boolean;
  claims: string;
  tokenAt: number;
  createdAt: number;
  /** of its last access; 0: never */
  seenAt: number;
  notes: string;
}

/** ProgramSessionView is a session that a program may see, or was shown. */
export interface ProgramSessionView {
  id: string;
  title: string;
}

/** ProgramSnippetView is the configuration of another program. */
export interface ProgramSnippetView {
  program: string;
  /** where it goes, in words */
  file: string;
  text: string;
}

/** ProgramChoice is what a person allows a program. */
export interface ProgramChoice {
  name: string;
  /** none, all, chosen */
  scope: string;
  sessions: string[];
  folders: string[];
  remember: boolean;
}

/** ProgramToken is a token for HTTP. It is shown once and cannot be read again. */
export interface ProgramToken {
  name: string;
  token: string;
  /** a configuration that holds it */
  snippet: string;
}

/** ProgramAccessPage is a part of the access record, newest first. */
export interface ProgramAccessPage {
  accesses: ProgramAccessView[];
  /** Before of the next page; 0: there is none */
  next: number;
}

/** ProgramAccessView is one access of a program. */
export interface ProgramAccessView {
  id: number;
  at: number;
  client: string;
  tool: string;
  query: string;
  /** Outcome is "answered", "refused" or "failed". */
  outcome: string;
  shown: ProgramShownView[];
  /** how many more it was shown */
  more: number;
}

/** ProgramShownView is what a program was shown. */
export interface ProgramShownView {
  sessionId: string;
  /** title */
  session: string;
  turnId: string;
}
