/** The shapes of backend/api/dto_storage.go, field by field. */

/** StorageView is what the data directory holds, by part. */
export interface StorageView {
  dataDir: string;
  config: string;
  bytes: number;
  /** on its file system; -1: not known */
  free: number;
  parts: StoragePart[];
  sessions: number;
  turns: number;
  movable: boolean;
  /** why not: a flag or a variable names the place */
  unmovable: string;
}

/** StoragePart is a part of the data directory. */
export interface StoragePart {
  /** database, journals, backups, aside, other */
  name: string;
  label: string;
  bytes: number;
  files: number;
  /** what it is for, in a sentence */
  about: string;
}

/** BackupView is a copy of the data. */
export interface BackupView {
  path: string;
  name: string;
  /** by_hand, daily, migration, before_restore */
  kind: string;
  at: number;
  bytes: number;
  sessions: number;
  turns: number;
  checked: boolean;
  /** why it cannot be restored; empty: it can */
  problem: string;
  /** that verify finds in it; known once it was checked */
  problems: number;
}

/** RestorePreview is what a restore would replace by what. Nothing is changed yet. */
export interface RestorePreview {
  backup: BackupView;
  /** that are there now */
  sessions: number;
  turns: number;
  /** of now; 0: none */
  newestTurn: number;
  /** of the backup; 0: none */
  backupNewest: number;
  /** that verify finds in the backup */
  problems: number;
  /** the first of them */
  findings: string[];
  /** it is of an older version and will be upgraded */
  schemaUpgrade: boolean;
  /** deletions for good whose text comes back, newest first */
  undone: ReceiptView[];
}

/** MovePreview is what moving the data directory would do. */
export interface MovePreview {
  from: string;
  /** absolute */
  to: string;
  bytes: number;
  free: number;
  /** why it cannot be done, in words; empty: it can */
  reason: string;
}

/** DeletePreview is what a hard delete would remove, before it does (SPEC 12). */
export interface DeletePreview {
  /** session or turn */
  kind: string;
  /** of the session, or "#12 of ..." */
  title: string;
  /** what is to be typed, exactly */
  confirm: string;
  parts: ErasedPart[];
  /** titles of others whose stored requests hold its text */
  sessions: string[];
  /** files that still hold it, and go on doing so */
  backups: string[];
  /** why it cannot be done now (an answer runs); empty: it can */
  reason: string;
}

/** ErasedPart is a store, and how many records of it. */
export interface ErasedPart {
  store: string;
  label: string;
  count: number;
}

/** ReceiptView tells what was erased, never its text. */
export interface ReceiptView {
  id: string;
  kind: string;
  /** its identifier */
  subject: string;
  at: number;
  parts: ErasedPart[];
  backups: string[];
}
