import { isTyping } from '$lib/shortcuts';
import type { App } from '$lib/state/app.svelte';
import { t } from '$lib/i18n/i18n.svelte';
import { Copy, Pin } from '$shared/icons';
import type { MenuItem } from '$shared/menu';
import Download from '@lucide/svelte/icons/download';
import ExternalLink from '@lucide/svelte/icons/external-link';
import ListOrdered from '@lucide/svelte/icons/list-ordered';
import Search from '@lucide/svelte/icons/search';
import TextQuote from '@lucide/svelte/icons/text-quote';
import TextSelect from '@lucide/svelte/icons/text-select';
import { turnActs } from '../transcript/turnActs';

export interface ContextAct extends MenuItem {
  run: () => unknown;
}

/** How many characters of a selection are shown in the menu and used for a search. */
const namedLength = 24;
const searchedLength = 200;

/** The actions for an element of the page; null if the system's own menu is better. */
export function contextActs(app: App, target: Element): ContextAct[] | null {
  if (isTyping(target)) return null;
  return [...ofSelection(app, target), ...ofLink(app, target), ...ofCode(app, target), ...ofTurn(app, target)];
}

function ofSelection(app: App, target: Element): ContextAct[] {
  const selection = getSelection();
  const text = selection?.toString().trim() ?? '';
  if (!selection || text === '' || !selection.getRangeAt(0).intersectsNode(target)) return [];
  const line = text.replace(/\s+/g, ' ');
  const name = line.length > namedLength ? `${line.slice(0, namedLength)}…` : line;
  const acts: ContextAct[] = [
    { id: 'copy', label: t('shared.copy'), icon: Copy, keys: 'Ctrl+C', run: () => app.turnActions.copy(text) },
    { id: 'search', label: t('shell.searchFor', { text: name }), icon: Search, run: () => app.search.show(line.slice(0, searchedLength)) },
  ];
  if (target.closest('article[data-turn]')) acts.push({ id: 'quote', label: t('shell.quoteSelection'), icon: TextQuote, keys: app.keymap.keys('quote'), run: () => app.library.quote(text) });
  if (target.closest('article[data-turn]') && app.conversation.session) acts.push({ id: 'pin', label: t('shell.pinSelection'), icon: Pin, run: () => app.turnActions.pin(text) });
  return acts;
}

function ofLink(app: App, target: Element): ContextAct[] {
  const href = target.closest('a[href]')?.getAttribute('href') ?? '';
  if (!/^https?:/i.test(href)) return [];
  return [
    { id: 'open', label: t('shell.openLink'), icon: ExternalLink, run: () => app.backend.settings.openExternal(href).catch((error: unknown) => app.toasts.error(error)) },
    { id: 'address', label: t('shell.copyLink'), icon: Copy, run: () => app.turnActions.copy(href) },
  ];
}

function ofCode(app: App, target: Element): ContextAct[] {
  const block = target.closest<HTMLElement>('.code');
  const code = block?.querySelector('code')?.textContent;
  if (!block || !code) return [];
  return [
    { id: 'code', label: t('shared.copyCode'), icon: Copy, run: () => app.turnActions.copy(code) },
    { id: 'saveCode', label: t('shell.saveCode'), icon: Download, run: () => app.turnActions.saveCode(block.dataset['file'] ?? 'code.txt', code) },
    { id: 'numbers', label: app.theme.numbers ? t('shell.hideLineNumbers') : t('shell.showLineNumbers'), icon: ListOrdered, run: () => app.theme.setNumbers(!app.theme.numbers) },
  ];
}

function ofTurn(app: App, target: Element): ContextAct[] {
  const article = target.closest<HTMLElement>('article[data-turn]');
  const turn = app.conversation.turns.find((candidate) => candidate.id === article?.dataset['turn']);
  if (!article || !turn) return [];
  const group = t('shell.turn', { seq: turn.seq });
  const select: ContextAct = { id: 'selectAll', label: t('shell.selectAll'), icon: TextSelect, run: () => getSelection()?.selectAllChildren(article) };
  return [select, ...turnActs(app, turn)].map((act) => ({ ...act, group }));
}
