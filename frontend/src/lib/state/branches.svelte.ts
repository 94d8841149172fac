import type { Backend } from '$lib/backend/backend';
import { toBackendError, type BackendError } from '$lib/backend/errors';
import type { BranchTree, BranchView, TreeBranch, TreeRun } from '$lib/backend/types';
import { t } from '$lib/i18n/i18n.svelte';
import type { Changes } from './changes';
import type { ComposerState } from './composer.svelte';
import type { ConversationState } from './conversation.svelte';
import { targetOf, type ExportState } from './exporting.svelte';
import type { InspectorState } from './inspector.svelte';
import type { LayoutState } from './layout.svelte';
import { Refresh } from './refresh';
import type { ToastsState } from './toasts.svelte';
import type { UndoState } from './undo.svelte';
import { versionsOf, type Versions } from './versions';

export interface BranchParts {
  backend: Backend;
  changes: Changes;
  composer: ComposerState;
  conversation: ConversationState;
  exporting: ExportState;
  inspector: InspectorState;
  layout: LayoutState;
  toasts: ToastsState;
  undo: UndoState;
}

/** An action on a branch that opens a dialog first. */
export type BranchQuestion =
  | { kind: 'session'; sessionId: string; title: string }
  | { kind: 'rename'; branchId: string; label: string }
  | { kind: 'fork'; turnId: string; seq: number }
  | { kind: 'compare'; left: string }
  | { kind: 'context'; branchId: string; turnId: string; seq: number };

/** The view that covers conversation and inspector. */
export type FullView = { kind: 'tree' } | { kind: 'answers'; turnId: string } | { kind: 'compare'; left: string; right: string } | { kind: 'project'; id: string };

/** A streaming turn changes often; the tree need not be read each time. */
const pauseMs = 400;

/** The branches of the open session as a tree, and the actions on them. */
export class BranchesState {
  #tree = $state.raw<BranchTree | null>(null);
  #error = $state.raw<BackendError | null>(null);
  #selected = $state('');
  #archived = $state(false);
  #fullView = $state.raw<FullView | null>(null);
  #asking = $state.raw<BranchQuestion | null>(null);
  #busy = $state(false);
  #followed = '';
  readonly #parts: BranchParts;
  readonly #versions = $derived.by(() => (this.#tree ? versionsOf(this.#tree, this.#parts.conversation.branchId) : new Map<string, Versions>()));
  readonly #refresh = new Refresh(() => this.#load(), pauseMs);
  readonly #off: () => void;

  constructor(parts: BranchParts) {
    this.#parts = parts;
    this.#off = parts.changes.on(['session', 'turn', 'head'], (change) => {
      if (change.session === this.#followed && this.#followed !== '') this.#refresh.soon();
    });
  }

  /** Null until loaded. */
  get tree(): BranchTree | null {
    return this.#tree;
  }

  get error(): BackendError | null {
    return this.#error;
  }

  /** An action is in progress. */
  get busy(): boolean {
    return this.#busy;
  }

  /** The run that is selected in the tree; empty for none. */
  get selected(): string {
    return this.#selected;
  }

  set selected(runId: string) {
    this.#selected = runId;
  }

  /** Archived branches are shown too. */
  get archived(): boolean {
    return this.#archived;
  }

  set archived(shown: boolean) {
    this.#archived = shown;
  }

  get fullView(): FullView | null {
    return this.#fullView;
  }

  get asking(): BranchQuestion | null {
    return this.#asking;
  }

  ask(question: BranchQuestion | null): void {
    this.#asking = question;
  }

  /** Opens the export dialog. */
  export(branchId: string, label: string): void {
    const { conversation, exporting } = this.#parts;
    exporting.show({ ...targetOf(conversation), branchId, branchLabel: label }, 'branch');
  }

  /** The versions of the message, for a turn that has several; undefined for any other. */
  versions(turnId: string): Versions | undefined {
    return this.#versions.get(turnId);
  }

  find(branchId: string): TreeBranch | undefined {
    return this.#tree?.branches.find((branch) => branch.id === branchId);
  }

  /** Shows the branches of a session from now on; does nothing if it already does. */
  follow(sessionId: string): void {
    if (sessionId === this.#followed) return;
    this.#followed = sessionId;
    this.#tree = null;
    this.#error = null;
    this.#selected = '';
    this.#fullView = null;
    if (sessionId !== '') void this.#refresh.now();
  }

  /** Data that was read may contain something deleted. */
  forget(): void {
    this.#tree = null;
    this.#selected = '';
    if (this.#followed !== '') void this.#refresh.now();
  }

  refresh(): Promise<void> {
    return this.#refresh.now();
  }

  /** Opens the tab of the tree. */
  show(): void {
    this.#parts.inspector.show('branches');
  }

  /** Shows the tree over conversation and inspector. */
  showFullTree(): void {
    this.#clear();
    this.#fullView = { kind: 'tree' };
  }

  /** Compares two branches, over conversation and inspector. */
  compare(left: string, right: string): void {
    this.#asking = null;
    this.#clear();
    this.#fullView = { kind: 'compare', left, right };
  }

  /** Compares the answers to the message of a turn, over conversation and inspector. */
  showAnswers(turnId: string): void {
    this.#clear();
    this.#fullView = { kind: 'answers', turnId };
  }

  /** Shows the page of a project, over conversation and inspector. */
  showProject(id: string): void {
    this.#clear();
    this.#fullView = { kind: 'project', id };
  }

  /** Merges all answers to the message of a turn into one, on a new branch that it opens. Throws on failure. */
  async merge(turnId: string, model: string): Promise<void> {
    const { backend, composer, conversation, toasts } = this.#parts;
    const { branchId: before, sessionId } = conversation;
    const isCurrent = conversation.request();
    const sent = await backend.branches.mergeAnswers(turnId, model);
    const message = t('state.merges', { model });
    if (!isCurrent()) return void toasts.show(message);
    this.closeFullView();
    await conversation.open(sessionId, sent.branchId);
    toasts.show(message, { action: { label: t('state.back'), run: () => void this.#act(() => conversation.switchBranch(before, sessionId)) } });
    composer.focus();
  }

  /**
   * Closes what would cover the full view. The session must be followed before the full view opens, because following
   * another session closes it.
   */
  #clear(): void {
    const { conversation, layout } = this.#parts;
    this.follow(conversation.sessionId);
    layout.closeSettings();
    layout.closeDrawer();
    if (layout.isDrawer('inspector')) layout.closePanel();
  }

  /** Returns whether there was anything to close. */
  closeFullView(): boolean {
    const open = this.#fullView !== null;
    this.#fullView = null;
    return open;
  }

  /** Opens a branch, optionally at a turn. */
  open(branchId: string, turnId = ''): Promise<boolean> {
    return this.#act(() => this.#goTo(branchId, turnId));
  }

  /** Opens a run: on its own branch, or on the open one if that contains it. */
  openRun(run: TreeRun, lit: boolean): Promise<boolean> {
    const branchId = lit ? this.#parts.conversation.branchId : run.branchId;
    this.closeFullView();
    return this.open(branchId, run.ends && run.branchId === branchId ? '' : run.firstTurn);
  }

  /** Forks: creates a branch that continues after a turn. */
  fork(turnId: string, seq: number, label: string): Promise<boolean> {
    return this.#act(() => this.#begin(() => this.#parts.backend.sessions.fork(turnId, false, label), (branch) => t('state.forked', { branch: branch.label, seq })));
  }

  /** Rolls back: creates a branch that ends with the turn. Nothing is deleted. */
  rollback(branchId: string, turnId: string, seq: number): Promise<boolean> {
    return this.#act(() => this.#begin(() => this.#parts.backend.branches.rollbackTo(branchId, turnId), (branch) => t('state.rolledBack', { seq, branch: branch.label })));
  }

  rename(branchId: string, label: string): Promise<boolean> {
    const { backend, undo } = this.#parts;
    return this.#act(async () => {
      const before = this.#labelOf(branchId);
      if (before === label) return;
      await backend.sessions.renameBranch(branchId, label);
      if (before) undo.record({ text: t('state.branchRenamed', { label }), undo: () => backend.sessions.renameBranch(branchId, before) });
    });
  }

  /** Archives or restores a branch. */
  archive(branchId: string, archived: boolean): Promise<boolean> {
    const { backend, undo } = this.#parts;
    return this.#act(async () => {
      await backend.branches.archive(branchId, archived);
      const name = `“${this.#labelOf(branchId)}”`;
      undo.record({ text: archived ? t('state.archivedBranch', { name }) : t('state.unarchivedBranch', { name }), undone: archived ? t('state.unarchivedBranch', { name }) : t('state.archivedBranchAgain', { name }), undo: () => backend.branches.archive(branchId, !archived) });
    });
  }

  stop(): void {
    this.#off();
    this.#refresh.cancel();
  }

  #labelOf(branchId: string): string {
    return (this.find(branchId) ?? this.#parts.conversation.branches.find((branch) => branch.id === branchId))?.label ?? '';
  }

  async #goTo(branchId: string, turnId: string): Promise<void> {
    const { conversation } = this.#parts;
    if (branchId !== conversation.branchId) await conversation.switchBranch(branchId);
    if (turnId !== '' && conversation.branchId === branchId) await conversation.jumpTo(turnId);
  }

  async #begin(make: () => Promise<BranchView>, text: (branch: BranchView) => string): Promise<void> {
    const { composer, conversation, toasts } = this.#parts;
    const { branchId: before, sessionId } = conversation;
    const isCurrent = conversation.request();
    const branch = await make();
    if (!isCurrent()) return void toasts.show(text(branch));
    this.closeFullView();
    await conversation.open(sessionId, branch.id);
    toasts.show(text(branch), { action: { label: t('state.back'), run: () => void this.#act(() => conversation.switchBranch(before, sessionId)) } });
    composer.focus();
  }

  /** Returns whether it succeeded; a failure is shown in a toast and changes nothing. */
  async #act(act: () => Promise<void>): Promise<boolean> {
    this.#busy = true;
    try {
      await act();
      return true;
    } catch (error) {
      this.#parts.toasts.error(error);
      return false;
    } finally {
      this.#busy = false;
    }
  }

  async #load(): Promise<void> {
    const sessionId = this.#followed;
    try {
      const tree = await this.#parts.backend.branches.tree(sessionId);
      if (sessionId !== this.#followed) return;
      this.#tree = tree;
      this.#error = null;
    } catch (error) {
      if (sessionId === this.#followed) this.#error = toBackendError(error);
    }
  }
}
