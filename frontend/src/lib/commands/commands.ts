/**
 * Slash commands: the list of them, and how a text in the composer is read as one. Pure; executed by state/commands.
 */
import type { SavedPromptView, ServerPromptView } from '$lib/backend/types';
import { entries, type CommandId, type Slash } from './list';

/** A command as it is written: its name, and its description for lists. */
export interface Command extends Slash {
  id: CommandId;
  readonly does: string;
}

/** By name. */
export const commands: readonly Command[] = entries
  .flatMap((entry) => (entry.slash ? [{ ...entry.slash, id: entry.id, get does() { return entry.title; } }] : []))
  .sort((a, b) => a.name.localeCompare(b.name));

/** What a text is: a message, a command, a command without its argument, or an unknown command name. */
export type Parsed =
  | { kind: 'text'; text: string }
  | { kind: 'command'; command: Command; argument: string }
  | { kind: 'incomplete'; command: Command }
  | { kind: 'unknown'; name: string };

/** `//name` stands for the text /name. `// a comment` is not changed: no command is written this way. */
export function unescaped(text: string): string {
  return /^\/\/[a-z]/i.test(text) ? text.slice(1) : text;
}

/** A path such as /usr/bin is text, too. */
export function parse(text: string): Parsed {
  if (text.startsWith('//')) return { kind: 'text', text: unescaped(text) };
  const found = /^\/([a-z]+)(?:\s+([\s\S]*))?$/i.exec(text.trimEnd());
  if (!found) return { kind: 'text', text };
  const name = found[1]!.toLowerCase();
  const argument = (found[2] ?? '').trim();
  const command = commands.find((candidate) => candidate.name === name);
  if (!command) return { kind: 'unknown', name };
  return command.needed && argument === '' ? { kind: 'incomplete', command } : { kind: 'command', command, argument };
}

/** An entry of the list under the caret. */
export interface Suggestion {
  /** What the field contains after it is selected. */
  text: string;
  label: string;
  detail: string;
  /** Selecting it leaves nothing to type. */
  complete: boolean;
  /** A prompt that replaces the typed text. */
  prompt?: SavedPromptView;
  serverPrompt?: ServerPromptView;
}

/** The commands that match the typed text. Only the first line can be a command. */
export function suggest(typed: string, models: readonly { name: string; detail: string }[]): Suggestion[] {
  const model = /^\/model[^\S\n]+(\S*)$/i.exec(typed);
  if (model) return models.filter(({ name }) => startsWith(name, model[1]!)).map(({ name, detail }) => ({ text: `/model ${name}`, label: name, detail, complete: true }));
  const found = /^\/([a-z]*)$/i.exec(typed);
  if (!found) return [];
  return commands.filter(({ name }) => startsWith(name, found[1]!)).map((command) => ({
    text: `/${command.name}${command.argument ? ' ' : ''}`, label: `/${command.name}${command.argument ? ` ${command.argument}` : ''}`,
    detail: command.does, complete: !command.needed && command.argument === '' && !command.whole,
  }));
}

function startsWith(name: string, typed: string): boolean {
  return name.toLowerCase().startsWith(typed.toLowerCase());
}

/** The state that "#146", "146" or the short id "9K4T" names. */
export function findState<T extends { turnSeq: number; shortId: string }>(history: readonly T[], argument: string): T | undefined {
  const query = argument.replace(/^#/, '').trim();
  if (/^\d+$/.test(query)) {
    const bySeq = history.find((state) => state.turnSeq === Number(query));
    if (bySeq) return bySeq;
  }
  return history.find((state) => state.shortId.toLowerCase() === query.toLowerCase());
}
