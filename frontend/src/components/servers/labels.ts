/** Texts about MCP servers. */
import type { ServerSettings, ServerView } from '$lib/backend/types';
import { t, table, type PlainKey } from '$lib/i18n/i18n.svelte';

export type Tone = 'plain' | 'ok' | 'warn' | 'danger' | 'accent';

const states: Record<string, { words: PlainKey; tone: Tone }> = {
  off: { words: 'servers.stateOff', tone: 'plain' },
  idle: { words: 'servers.stateIdle', tone: 'plain' },
  starting: { words: 'servers.stateStarting', tone: 'accent' },
  ready: { words: 'servers.stateReady', tone: 'ok' },
  sign_in: { words: 'servers.signIn', tone: 'warn' },
  waiting: { words: 'servers.stateWaiting', tone: 'warn' },
  failed: { words: 'servers.stateFailed', tone: 'danger' },
};

export function stateOf(server: ServerView): { words: string; tone: Tone } {
  const state = states[server.state];
  return state ? { words: t(state.words), tone: state.tone } : { words: server.state, tone: 'plain' };
}

/** Its command, or its address: "npx -y server", "https://…". */
export function placeOf({ command, args, url }: ServerSettings): string {
  return url === '' ? [command, ...args.map(quoted)].join(' ') : url;
}

const quoted = (argument: string) => (/^[\w@%+=:,./-]+$/.test(argument) ? argument : JSON.stringify(argument));

/** The origin of a line of a server's log. */
export const origins: Readonly<Record<string, string>> = table({ stderr: 'servers.stderr', stdout: 'servers.stdout', server: 'servers.logged', program: 'servers.here' });

/** One argument per line, so that none needs quotes. */
export const linesOf = (text: string): string[] => text.split('\n').map((line) => line.trimEnd()).filter((line) => line !== '');

export function emptySettings(): ServerSettings {
  return { name: '', enabled: true, command: '', args: [], cwd: '', url: '', timeoutS: 0, env: [], headers: [], oauthClientId: '', oauthPort: 0 };
}
