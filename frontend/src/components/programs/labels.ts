import type { ProgramAccessView, ProgramClientView } from '$lib/backend/types';
import { t, type PlainKey } from '$lib/i18n/i18n.svelte';

/** The scope of a program in one word. */
export function accessText(client: ProgramClientView): { label: string; tone: 'plain' | 'ok' | 'warn' } {
  switch (client.scope) {
    case 'asked': // one that has only a token has not asked for anything yet
      return client.seenAt ? { label: t('programs.asks'), tone: 'warn' } : { label: t('programs.noAccessYet'), tone: 'plain' };
    case 'all':
      return { label: t('programs.seesAll'), tone: 'ok' };
    case 'chosen': {
      const [sessions, folders] = [client.sessions.length, client.folders.length];
      if (sessions === 0 && folders === 0) return { label: t('programs.seesNothing'), tone: 'plain' };
      const label = folders === 0 ? t('programs.seesSessions', { sessions }) : sessions === 0 ? t('programs.seesFolders', { folders }) : t('programs.seesBoth', { sessions, folders });
      return { label, tone: 'ok' };
    }
    default:
      return { label: t('programs.seesNothing'), tone: 'plain' };
  }
}

const tools: Record<string, PlainKey> = { search_memory: 'programs.searched', get_turn: 'programs.readTurn', list_sessions: 'programs.listedSessions', remember: 'programs.wroteNote' };

/** What a program did, in a few words. */
export function actionText(access: ProgramAccessView): string {
  const known = tools[access.tool];
  const action = known ? t(known) : access.tool;
  if (access.outcome === 'refused') return t('programs.refused', { what: action });
  return access.outcome === 'failed' ? t('programs.failed', { what: action }) : action;
}

/** How much of the history an access showed. */
export function shownText(access: ProgramAccessView): string {
  const total = access.shown.length + access.more;
  if (total === 0) return t('programs.noneShown');
  return access.tool === 'list_sessions' ? t('shared.countSessions', { count: total }) : t('shared.countTurns', { count: total });
}
