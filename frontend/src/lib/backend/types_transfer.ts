/** The shapes of backend/api/dto_transfer.go, field by field. */

/** ExportRequest says what is exported, and as what (SPEC 12). */
export interface ExportRequest {
  /** turn, branch, session or all */
  scope: string;
  /** empty with all */
  sessionId: string;
  /** of scope branch and turn; session: the active one, unless AllBranches */
  branchId: string;
  /** of scope turn */
  turnId: string;
  /** of scope session and all; a bundle always has all */
  allBranches: boolean;
  /** bundle, md, json or html; empty: export.format */
  format: string;
  /** of scope all: archived sessions too */
  archived: boolean;
  /** the file to write; with all: of the zip. Never overwritten unless Replace */
  path: string;
  replace: boolean;
}

/** ExportPlan is what an export would write, before it does. */
export interface ExportPlan {
  /** suggested, with its extension */
  name: string;
  /** where: the folder used last, and the name */
  path: string;
  /** Path is there already */
  exists: boolean;
  sessions: number;
  branches: number;
  turns: number;
  /** turns that are left out: no answer yet */
  open: number;
}

/** DraggedFile is a file written for a drag out of the window. It is removed with the next start. */
export interface DraggedFile {
  path: string;
  /** file:///... */
  uri: string;
  name: string;
  size: number;
}

/** DroppedFile is a file that somebody dropped on the window, chose, or passed to a second start of the program. */
export interface DroppedFile {
  path: string;
  name: string;
  size: number;
  /** transcript, bundle, backup, document, image, folder or unknown */
  kind: string;
  /** of a transcript: chatgpt, claude, claude-code, codex, open-webui, librechat, jsonl, messages, zip */
  format: string;
  /** why nothing can be done with it, in words */
  reason: string;
}

/** ImportReport is what an import did. It stays until it is dismissed. */
export interface ImportReport {
  file: string;
  format: string;
  /** made */
  sessions: number;
  /** that were there and got new turns */
  grown: number;
  /** that were there, unchanged */
  already: number;
  /** added */
  turns: number;
  /** added beside the first */
  branches: number;
  skippedCount: number;
  /** the first of them */
  skipped: SkippedRow[];
  notices: CountedNote[];
  /** conversations that bring instructions of their own, which are not used */
  instructed: number;
  /** the first of them */
  instructions: Instructed[];
  torn: boolean;
  cancelled: boolean;
  /** to open */
  firstSession: string;
  /** a bundle whose session exists and has diverged: a copy beside it */
  copied: boolean;
}

/** Instructed is a conversation that brings instructions of its own. */
export interface Instructed {
  sessionId: string;
  title: string;
  /** their first words */
  begins: string;
}

/** SkippedRow is an entry that could not be read. */
export interface SkippedRow {
  file: string;
  index: number;
  id: string;
  title: string;
  offset: number;
  reason: string;
}

/** CountedNote is something to be known, and how often it was met. */
export interface CountedNote {
  text: string;
  count: number;
}
