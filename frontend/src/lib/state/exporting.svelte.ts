import type { Backend } from '$lib/backend/backend';
import { toBackendError, type BackendError } from '$lib/backend/errors';
import type { ExportingFormat, ExportingScope, ExportPlan, ExportRequest, Setting, TaskView } from '$lib/backend/types';
import { t } from '$lib/i18n/i18n.svelte';
import type { ConversationState } from './conversation.svelte';
import type { WorkState } from './work.svelte';

/** The possible scopes of an export: only those with an id can be chosen. */
export interface ExportTarget {
  sessionId: string;
  title: string;
  branches: number;
  branchId: string;
  branchLabel: string;
  turnId: string;
  seq: number;
}

export const nothingNamed: ExportTarget = { sessionId: '', title: '', branches: 0, branchId: '', branchLabel: '', turnId: '', seq: 0 };

/** The open session and its open branch. */
export function targetOf(conversation: Pick<ConversationState, 'session' | 'branches' | 'branchId' | 'header'>): ExportTarget {
  const { session, branches, branchId, header } = conversation;
  return { ...nothingNamed, sessionId: session?.id ?? '', title: session?.title ?? '', branches: branches.length, branchId, branchLabel: header?.branchLabel ?? '' };
}

/** A bundle always contains a whole session with all its branches. */
export const fits = (format: ExportingFormat, scope: ExportingScope): boolean => format !== 'bundle' || scope === 'session' || scope === 'all';

/** The extensions of exports, of which a chosen path may have one. */
const ending = (name: string): string => /\.(cinf|md|json|html|zip)(\.age)?$/i.exec(name)?.[0] ?? '';
const endings: Record<ExportingFormat, string> = { bundle: '.cinf', md: '.md', json: '.json', html: '.html' };

/** An export: its scope, format and path. The last choices are kept while the window is open. */
export class ExportState {
  #target = $state.raw<ExportTarget | null>(null);
  #scope = $state<ExportingScope>('session');
  #format = $state<ExportingFormat>('bundle');
  #allBranches = $state(true);
  #archived = $state(false);
  #quotes = $state(false);
  #sealed = $state(false);
  /** Of a sealed bundle, typed twice. They are forgotten with the dialog. */
  passphrase = $state('');
  repeated = $state('');
  #path = $state('');
  /** The path was typed or chosen, not suggested. */
  #ownPath = false;
  #replace = $state(false);
  #plan = $state.raw<ExportPlan | null>(null);
  #error = $state.raw<BackendError | null>(null);
  #beginning = $state(false);
  #started = $state('');
  #serial = 0;
  /** From the settings, until the user chooses a format. */
  #byDefault: ExportingFormat = 'bundle';
  #chosen: ExportingFormat | null = null;
  readonly #backend: Backend;
  readonly #work: WorkState;

  constructor(backend: Backend, work: WorkState) {
    this.#backend = backend;
    this.#work = work;
  }

  get target(): ExportTarget | null {
    return this.#target;
  }

  get scope(): ExportingScope {
    return this.#scope;
  }

  get scopes(): readonly ExportingScope[] {
    const target = this.#target ?? nothingNamed;
    return [...(target.turnId ? ['turn' as const] : []), ...(target.branchId ? ['branch' as const] : []), ...(target.sessionId ? ['session' as const] : []), 'all'];
  }

  get format(): ExportingFormat {
    return this.#format;
  }

  get allBranches(): boolean {
    return this.#allBranches || this.#format === 'bundle';
  }

  get archived(): boolean {
    return this.#archived;
  }

  /** A bundle of a session includes the requests that quoted other sessions. Reset for each export. */
  get quotes(): boolean {
    return this.#quotes;
  }

  setQuotes(quotes: boolean): void {
    this.#quotes = quotes;
  }

  /** The bundle is sealed with a passphrase. Reset for each export. */
  get sealed(): boolean {
    return this.#sealed && this.#format === 'bundle';
  }

  /** The second passphrase differs from the first. */
  get differs(): boolean {
    return this.repeated !== '' && this.repeated !== this.passphrase;
  }

  get path(): string {
    return this.#path;
  }

  get replace(): boolean {
    return this.#replace;
  }

  /** What would be written; null until known. */
  get plan(): ExportPlan | null {
    return this.#plan;
  }

  get error(): BackendError | null {
    return this.#error;
  }

  get beginning(): boolean {
    return this.#beginning;
  }

  /** The export that was started here. */
  get task(): TaskView | undefined {
    return this.#work.tasks.find((task) => task.id === this.#started);
  }

  /** Why it cannot be started like this; empty: it can. */
  get disabledReason(): string {
    const plan = this.#plan;
    if (!plan) return t('state.countingTurns');
    if (this.#path.trim() === '') return t('state.chooseFile');
    if (plan.exists && !this.#replace) return t('state.fileExists');
    if (this.sealed && (this.passphrase.trim() === '' || this.repeated !== this.passphrase)) return t('state.typeTwice');
    return plan.turns === 0 ? t('state.noFinished') : '';
  }

  /** The format in the settings, for files dragged out and for the first dialog. */
  get byDefault(): ExportingFormat {
    return this.#byDefault;
  }

  adoptDefault(settings: readonly Setting[]): void {
    const value = settings.find((setting) => setting.key === 'export.format')?.value;
    if (value === 'bundle' || value === 'md' || value === 'html' || value === 'json') this.#byDefault = value;
  }

  show(target: Partial<ExportTarget>, scope: ExportingScope): void {
    this.#target = { ...nothingNamed, ...target };
    this.#scope = scope;
    this.#started = '';
    this.#replace = false;
    this.#quotes = false;
    this.#sealed = false;
    this.#forget();
    this.#ownPath = false;
    this.#path = '';
    this.#plan = null;
    this.#error = null;
    this.#fitFormat();
    void this.ask();
  }

  /** A started export continues. */
  close(): void {
    this.#serial++;
    this.#target = null;
    this.#forget();
  }

  #forget(): void {
    this.passphrase = '';
    this.repeated = '';
  }

  /** Returns to the choices, for another export. */
  again(): void {
    if (this.#target) this.show(this.#target, this.#scope);
  }

  choose(change: { scope?: ExportingScope; format?: ExportingFormat; allBranches?: boolean; archived?: boolean; sealed?: boolean }): void {
    if (change.scope !== undefined) this.#scope = change.scope;
    if (change.format !== undefined) this.#chosen = change.format;
    if (change.allBranches !== undefined) this.#allBranches = change.allBranches;
    if (change.archived !== undefined) this.#archived = change.archived;
    if (change.sealed !== undefined) this.#sealed = change.sealed;
    this.#fitFormat();
    this.#fitPath();
    this.#replace = false;
    void this.ask();
  }

  setPath(path: string): void {
    this.#path = path;
    this.#ownPath = true;
    this.#replace = false;
  }

  setReplace(replace: boolean): void {
    this.#replace = replace;
  }

  /** Opens the system's dialog; cancelling it changes nothing. */
  async pick(): Promise<void> {
    try {
      const path = await this.#backend.transfer.pickTarget(this.#path || this.#plan?.path || '');
      if (path === '') return;
      this.setPath(path);
      await this.ask();
    } catch (thrown) {
      this.#error = toBackendError(thrown);
    }
  }

  /** A path that the user chose keeps its name; an extension of exports follows the format. */
  #fitPath(): void {
    const old = this.#ownPath ? ending(this.#path.trim()) : '';
    if (old === '') return;
    const now = (this.#scope === 'all' ? '.zip' : endings[this.#format]) + (this.sealed ? '.age' : '');
    this.#path = this.#path.trim().slice(0, -old.length) + now;
  }

  /** Asks what would be written. The reply to an outdated question is dropped. */
  async ask(): Promise<void> {
    const serial = ++this.#serial;
    try {
      const plan = await this.#backend.transfer.plan(this.#request(this.#ownPath ? this.#path.trim() : ''));
      if (serial !== this.#serial) return;
      this.#error = null;
      this.#plan = plan;
      if (!this.#ownPath) this.#path = plan.path;
    } catch (thrown) {
      if (serial !== this.#serial) return;
      this.#plan = null;
      this.#error = toBackendError(thrown);
    }
  }

  async begin(): Promise<void> {
    if (this.#beginning || this.disabledReason !== '') return;
    this.#beginning = true;
    this.#error = null;
    try {
      const task = await this.#backend.transfer.export(this.#request(this.#path.trim()), this.sealed ? this.passphrase : '');
      this.#forget();
      this.#started = task.id;
      this.#work.adopt([task]);
    } catch (thrown) {
      await this.#askAgain(toBackendError(thrown));
    } finally {
      this.#beginning = false;
    }
  }

  /**
   * The export was refused. If the reason is a file that was created after the plan was made, the new plan asks whether
   * to replace it.
   */
  async #askAgain(error: BackendError): Promise<void> {
    await this.ask();
    if (!this.#plan?.exists || this.#replace) this.#error = error;
  }

  #fitFormat(): void {
    const format = this.#chosen ?? this.#byDefault;
    this.#format = fits(format, this.#scope) ? format : 'md';
  }

  #request(path: string): ExportRequest {
    const target = this.#target ?? nothingNamed;
    const scope = this.#scope;
    return {
      scope, sessionId: scope === 'all' ? '' : target.sessionId, branchId: scope === 'turn' || scope === 'branch' ? target.branchId : '', turnId: scope === 'turn' ? target.turnId : '',
      allBranches: (scope === 'session' || scope === 'all') && this.allBranches, format: this.#format, quotes: this.#quotes, sealed: this.sealed, archived: scope === 'all' && this.#archived,
      path, replace: this.#replace,
    };
  }
}
