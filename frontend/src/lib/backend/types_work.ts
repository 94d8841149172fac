/** The shapes of backend/api/dto_work.go, field by field. */
import type { ErrorView } from './types';
import type { DroppedFile, ImportReport } from './types_transfer';

/** TaskView is long work that somebody began: it shows how far it is, can be cancelled, and survives a restart (UX, Around it). A change of kind "task" says that it is different. */
export interface TaskView {
  id: string;
  /** import, export, backup, restore, move, reindex or verify */
  kind: string;
  /** "Import conversations.json" */
  title: string;
  /** running, done, failed, cancelled or interrupted: the program ended meanwhile */
  state: string;
  done: number;
  /** 0: not known */
  total: number;
  /** bytes, sessions, turns; empty: nothing to count */
  unit: string;
  /** what it is at */
  detail: string;
  startedAt: number;
  /** 0: running */
  endedAt: number;
  error: ErrorView | null;
  /** the file or folder that was written */
  path: string;
  /** of an import */
  import: ImportReport | null;
  /** of a check of everything */
  check: CheckReport | null;
  /** Resume goes on where it stopped */
  resumable: boolean;
  /** it cannot be cancelled once begun: the program starts anew for it */
  firm: boolean;
}

/** CheckReport is what a check of everything found. Each finding names its record; at most 100 of them are kept. */
export interface CheckReport {
  problems: number;
  findings: string[];
}

/** Background is what goes on behind the window. */
export interface Background {
  paused: boolean;
  queued: number;
  running: number;
  dead: number;
  /** there is a place for the tray icon */
  trayHost: boolean;
  /** closing the window leaves the program in the tray */
  closeHides: boolean;
}

/** WindowRequest is what the program asks of the page from outside it: by the tray, by a second start of the program or by a drop on the window. Event ci:window-request. */
export interface WindowRequest {
  /** new_chat, open_session, files, close or report */
  kind: string;
  sessionId: string;
  files: DroppedFile[];
  /** of a drop, in the page; -1: no drop */
  x: number;
  y: number;
}

/** Its name on the bus. */
export const EVENT_SUMMONS = 'ci:window-request';
