/** What the window says about MCP servers. */
import type { ServerSettings, ServerView } from '$lib/backend/types';

export type Tone = 'plain' | 'ok' | 'warn' | 'danger' | 'accent';

const states: Record<string, { words: string; tone: Tone }> = {
  off: { words: 'Off', tone: 'plain' },
  idle: { words: 'Ready to start', tone: 'plain' },
  starting: { words: 'Starting', tone: 'accent' },
  ready: { words: 'Running', tone: 'ok' },
  sign_in: { words: 'Sign in', tone: 'warn' },
  waiting: { words: 'Restarts soon', tone: 'warn' },
  failed: { words: 'Failed', tone: 'danger' },
};

export function stateOf(server: ServerView): { words: string; tone: Tone } {
  return states[server.state] ?? { words: server.state, tone: 'plain' };
}

/** What runs, or where it is: "npx -y server", "https://…". */
export function placeOf({ command, args, url }: ServerSettings): string {
  return url === '' ? [command, ...args.map(quoted)].join(' ') : url;
}

const quoted = (argument: string) => (/^[\w@%+=:,./-]+$/.test(argument) ? argument : JSON.stringify(argument));

export const origins: Record<string, string> = { stderr: 'wrote', stdout: 'printed', server: 'logged', program: 'here' };

/** Arguments are written one in a line, so that none needs quotes. */
export const linesOf = (text: string): string[] => text.split('\n').map((line) => line.trimEnd()).filter((line) => line !== '');

export function emptySettings(): ServerSettings {
  return { name: '', enabled: true, command: '', args: [], cwd: '', url: '', timeoutS: 0, env: [], headers: [], oauthClientId: '', oauthPort: 0 };
}
