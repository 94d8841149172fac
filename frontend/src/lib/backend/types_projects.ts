/** The shapes of backend/api/dto_projects.go, field by field. */

/** ProjectsPanel is all projects. */
export interface ProjectsPanel {
  rev: number;
  /** by name */
  projects: ProjectRow[];
}

/** ProjectRow is a project in a list. */
export interface ProjectRow {
  id: string;
  /** of its folder */
  name: string;
  /** in its folder and not archived */
  sessions: number;
  files: number;
}

/** ProjectView is a project with all that a person gave it but its files. */
export interface ProjectView {
  id: string;
  name: string;
  /** stand before a session's own */
  instructions: string;
  /** of new sessions; empty: the default */
  model: string;
  /** "" (as configured), disabled, parse_only, enabled */
  toolsMode: string;
  /** the only ones offered, SOURCE or SOURCE/TOOL; none: all */
  tools: string[];
  /** pinned, in order */
  facts: string[];
  /** the watched folder; empty: none */
  watch: string;
  sessions: number;
  files: number;
  /** the last look at the watched folder that found something else; null: none */
  scan: ProjectScanView | null;
}

/** ProjectScanView is what a look at a watched folder found. Of long lists the beginning is there. */
export interface ProjectScanView {
  at: number;
  /** files that are indexed now */
  found: number;
  new: string[];
  changed: string[];
  removed: string[];
  newCount: number;
  changedCount: number;
  removedCount: number;
  /** by reason */
  skipped: SkippedCount[];
  /** the first of them */
  skippedFiles: SkippedFileView[];
  /** why the folder could not be looked at; empty: it was */
  error: string;
}

/** SkippedCount is how many files were left out for one reason. */
export interface SkippedCount {
  why: string;
  count: number;
}

/** SkippedFileView is a file or directory that was left out. */
export interface SkippedFileView {
  path: string;
  why: string;
}

/** ProjectFileView is a document or watched file of a project. */
export interface ProjectFileView {
  path: string;
  /** to be read: Chat.Document */
  id: string;
  mediaType: string;
  size: number;
  tokens: number;
  modifiedAt: number;
  /** false: it cannot be found yet */
  indexed: boolean;
}

/** ProjectFilesPage is a page of a project's files of one kind, by path. */
export interface ProjectFilesPage {
  total: number;
  files: ProjectFileView[];
}
