import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from '@playwright/test';
import { expect, type Served } from '../harness/fixtures.ts';
import type { Home } from '../harness/home.ts';
import { until } from '../harness/process.ts';
import type { Provider } from '../harness/provider.ts';
import { Conversation, plain, prose } from './conversation.ts';

export type Launch = (extra?: Record<string, string>) => Promise<Served>;

/** The window's report of what a start found and did. */
export class Recovery {
  /** The line above the conversation. */
  readonly news: Locator;
  readonly report: Locator;

  constructor(private readonly page: Page) {
    this.news = page.getByRole('status', { name: 'Recovery' });
    this.report = page.getByRole('article', { name: 'Recovery report' });
  }

  /** Opens the report in the inspector, and the inspector if necessary. */
  async open(): Promise<Locator> {
    await this.page.getByRole('tab', { name: /^Activity/ }).click();
    await expect(this.report).toBeVisible();
    return this.report;
  }
}

/** Sends a message and kills the program while the answer arrives; returns the text shown until then. */
export async function cutOff(launch: Launch, page: Page, provider: Provider, question = 'Tell me'): Promise<string> {
  provider.answer(question, prose(100), { chunkSize: 15, holdAfter: 40 });
  const program = await launch();
  const chat = new Conversation(page);
  await chat.ask(question);
  const shown = await chat.shown(1, 150);
  await program.crash();
  return shown;
}

/** Sends a message, and lets the build with fault points end at one of them. */
export async function dieAt(launch: Launch, page: Page, point: string, question = 'Tell me'): Promise<void> {
  const program = await launch({ CONTEXTINFINITY_FAULT: `${point}:exit` });
  await new Conversation(page).ask(question);
  await until(`the program dies at ${point}`, () => !program.running);
}

/** The only journal, with ways to damage it. */
export function journalFile(home: Home): { text: string; tear: (line: string) => void; spoil: (line: number) => void } {
  const dir = join(home.dataDir, 'streams');
  const names = readdirSync(dir).filter((name) => name.endsWith('.jsonl'));
  expect(names).toHaveLength(1);
  const file = join(dir, names[0]!);
  return {
    text: readFileSync(file, 'utf8'),
    tear: (line) => appendFileSync(file, line),
    spoil: (line) => {
      const lines = readFileSync(file, 'utf8').split('\n');
      lines[line - 1] = 'no entry of a journal';
      writeFileSync(file, lines.join('\n'));
    },
  };
}

/** The committed head as shown in the header. */
export async function head(chat: Conversation): Promise<string> {
  return plain(await chat.header.getByRole('button', { name: /^Head/ }).innerText());
}

/** The byte counts in the header: on disk, and shown. */
export async function streamed(chat: Conversation): Promise<{ durable: number; displayed: number; words: string }> {
  return read(await chat.header.getByRole('button', { name: /^Stream/ }).innerText());
}

export function read(words: string): { durable: number; displayed: number; words: string } {
  const found = /([\d\s]+?)\s*\/\s*([\d\s]+?)\s*B/.exec(words.replace(/[\u202f\u00a0]/g, ''));
  if (!found) throw new Error(`the header names no bytes: ${words}`);
  return { durable: Number(found[1]), displayed: Number(found[2]), words: plain(words) };
}
