import type { ProgramAccessView, ProgramClientView } from '$lib/backend/types';
import { counted } from '$shared/format';

/** What a program may see, in a word. */
export function sees(client: ProgramClientView): { words: string; tone: 'plain' | 'ok' | 'warn' } {
  switch (client.scope) {
    case 'asked':
      return { words: 'asks for access', tone: 'warn' };
    case 'all':
      return { words: 'sees all sessions', tone: 'ok' };
    case 'chosen': {
      const parts = [client.sessions.length ? counted(client.sessions.length, 'session') : '', client.folders.length ? counted(client.folders.length, 'folder') : ''].filter(Boolean);
      return parts.length ? { words: `sees ${parts.join(' and ')}`, tone: 'ok' } : { words: 'sees nothing', tone: 'plain' };
    }
    default:
      return { words: 'sees nothing', tone: 'plain' };
  }
}

const tools: Record<string, string> = { search_memory: 'searched', get_turn: 'read a turn', list_sessions: 'listed sessions', remember: 'wrote a note' };

/** What a program did, in a few words. */
export function did(access: ProgramAccessView): string {
  const what = tools[access.tool] ?? access.tool;
  if (access.outcome === 'refused') return `was refused (${what})`;
  return access.outcome === 'failed' ? `failed (${what})` : what;
}

/** How much of the history an access showed. */
export function shownWords(access: ProgramAccessView): string {
  const total = access.shown.length + access.more;
  if (total === 0) return 'nothing shown';
  return counted(total, access.tool === 'list_sessions' ? 'session' : 'turn');
}
