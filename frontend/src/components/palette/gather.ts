import { providerName } from '../settings/providers';
import type { BranchView, SessionRow, Setting } from '$lib/backend/types';
import { entries } from '$lib/commands/list';
import type { App } from '$lib/state/app.svelte';
import { program, settingTexts } from '$lib/i18n/program';
import { t } from '$lib/i18n/i18n.svelte';
import { formatTimeOrDay } from '$shared/format';
import { shownValue } from '../settings/bounds';
import { groupId } from '../settings/sections';
import { choiceText } from '../settings/labels';
import type { Item } from './items';

/** Data requested when the palette opens. */
export interface PaletteData {
  sessions: readonly SessionRow[];
  settings: readonly Setting[];
}

/** All commands and destinations as palette items. */
export function gather(app: App, { sessions, settings }: PaletteData, typed: string): Item[] {
  return [...commands(app), ...turnOf(app, typed), ...sessions.filter((row) => row.id !== app.conversation.sessionId || app.temporary.active).map((row) => session(app, row)), ...(app.temporary.active ? [] : app.conversation.branches.filter((other) => other.id !== app.conversation.branchId && !other.archived).map((other) => branch(app, other))), ...models(app), ...settings.map((entry) => setting(app, entry)), ...messages(app, typed)];
}

function commands(app: App): Item[] {
  return entries
    .filter((entry) => !entry.local && entry.id !== 'model')
    .map((entry) => ({
      id: `command:${entry.id}`, kind: 'command', title: entry.title, words: `${entry.slash?.name ?? ''} ${entry.words ?? ''}`.trim(), keys: app.keymap.keys(entry.id) || undefined,
      detail: entry.id === 'undo' ? app.undo.next : entry.slash && !app.keymap.keys(entry.id) ? `/${entry.slash.name}` : undefined, disabledReason: app.commands.disabledReason(entry.id), argument: entry.slash?.needed && entry.id !== 'find' && entry.id !== 'searchAll' ? entry.title : undefined,
      run: (argument) => app.commands.try(entry.id, argument),
    }));
}

const session = (app: App, row: SessionRow): Item => ({ id: `session:${row.id}`, kind: 'session', title: row.title || t('shell.newConversation'), words: row.folder, detail: [row.folder, formatTimeOrDay(row.updatedAt)].filter(Boolean).join(' · '), run: () => app.navigation.openSession(row.id) });

const branch = (app: App, view: BranchView): Item => ({ id: `branch:${view.id}`, kind: 'branch', title: view.label, detail: t('palette.turns', { count: view.turns }), run: () => app.branches.open(view.id) });

function models(app: App): Item[] {
  return app.models.list.map((model) => ({
    id: `model:${model.name}`, kind: 'model', title: t('palette.answerWith', { model: model.name }), words: `model ${model.provider} ${model.modelId}`, detail: model.name === app.conversation.model ? t('palette.inUse') : providerName(model.provider),
    disabledReason: model.usable ? app.commands.disabledReason('model') : program(model.reason), run: () => app.commands.try('model', model.name),
  }));
}

function setting(app: App, entry: Setting): Item {
  const { label, help } = settingTexts(entry);
  const value = entry.value && (choiceText[entry.key]?.[entry.value] ?? shownValue(entry, entry.value));
  return {
    id: `setting:${entry.key}`, kind: 'setting', title: t('palette.settingOf', { group: program(entry.group), label }), words: `${entry.key} ${help}`,
    detail: [value, program(entry.unit)].filter(Boolean).join(' '), run: () => app.layout.openSettings(groupId(entry.group)),
  };
}

/** "#12" is a turn. */
function turnOf(app: App, typed: string): Item[] {
  const seq = Number(/^#\s*(\d+)$/.exec(typed.trim())?.[1] ?? 0);
  if (seq === 0) return [];
  const disabledReason = app.commands.disabledReason('goTo') || (seq < app.conversation.firstSeq || seq > app.conversation.lastSeq ? t('palette.thereAre', { first: app.conversation.firstSeq, last: app.conversation.lastSeq }) : '');
  return [{ id: 'turn', kind: 'turn', title: t('palette.goToTurn', { seq }), disabledReason, run: () => app.conversation.jumpToSeq(seq) }];
}

/** A row that searches messages with the global search. */
function messages(app: App, typed: string): Item[] {
  const text = typed.trim();
  return text === '' || /^[>#]/.test(text) ? [] : [{ id: 'search', kind: 'search', title: t('palette.searchMessages', { text }), keys: app.keymap.keys('searchAll') || undefined, run: () => app.search.show(text) }];
}
