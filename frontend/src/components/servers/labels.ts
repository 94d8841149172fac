/** Texts about MCP servers. */
import type { ServerQuestion, ServerSettings, ServerValue, ServerView } from '$lib/backend/types';
import { t, table, type PlainKey } from '$lib/i18n/i18n.svelte';

export type Tone = 'plain' | 'ok' | 'warn' | 'danger' | 'accent';

const states: Record<string, { label: PlainKey; tone: Tone }> = {
  off: { label: 'servers.stateOff', tone: 'plain' },
  idle: { label: 'servers.stateIdle', tone: 'plain' },
  starting: { label: 'servers.stateStarting', tone: 'accent' },
  ready: { label: 'servers.stateReady', tone: 'ok' },
  sign_in: { label: 'servers.signIn', tone: 'warn' },
  waiting: { label: 'servers.stateWaiting', tone: 'warn' },
  failed: { label: 'servers.stateFailed', tone: 'danger' },
};

export function stateOf(server: ServerView): { label: string; tone: Tone } {
  const state = states[server.state];
  return state ? { label: t(state.label), tone: state.tone } : { label: server.state, tone: 'plain' };
}

/** Its command, or its address: "npx -y server", "https://…". */
export function placeOf({ command, args, url }: ServerSettings): string {
  return url === '' ? [command, ...args].map(quoted).join(' ') : url;
}

/** The settings with which an imported server would run, given the answers. Secret answers are ${secret:KEY}, as they are stored. */
export function asRun(settings: ServerSettings, questions: readonly ServerQuestion[], answers: Readonly<Record<string, string>>): ServerSettings {
  const lines = (answer: string) => answer.split(/[\r\n]+/).filter((part) => part !== '');
  const values = new Map(questions.map(({ key, secret, multiple, default: usual }) => {
    const answer = (answers[key] ?? '') || usual;
    return [`\${answer:${key}}`, secret ? [`\${secret:${key}}`] : multiple ? lines(answer) : [answer]];
  }));
  const fill = (text: string) => text.replace(/\$\{answer:[^}]*\}/g, (found) => values.get(found)?.join(',') ?? found);
  const filled = (list: readonly ServerValue[]) => list.map((value) => ({ ...value, value: fill(value.value) }));
  return {
    ...settings, command: fill(settings.command), url: fill(settings.url), args: settings.args.flatMap((argument) => values.get(argument) ?? [fill(argument)]),
    env: filled(settings.env), headers: filled(settings.headers),
  };
}

const quoted = (argument: string) => (/^[\w@%+=:,./-]+$/.test(argument) ? argument : JSON.stringify(argument));

/** The origin of a line of a server's log. */
export const origins: Readonly<Record<string, string>> = table({ stderr: 'servers.stderr', stdout: 'servers.stdout', server: 'servers.logged', program: 'servers.here' });

/** One argument per line, so that none needs quotes. */
export const linesOf = (text: string): string[] => text.split('\n').map((line) => line.trimEnd()).filter((line) => line !== '');

export function emptySettings(): ServerSettings {
  return { name: '', enabled: true, command: '', args: [], cwd: '', url: '', timeoutS: 0, env: [], headers: [], oauthClientId: '', oauthPort: 0 };
}
