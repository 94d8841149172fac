import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from '@playwright/test';
import { type DevBuild, expect } from '../harness/fixtures.ts';
import type { Home } from '../harness/home.ts';
import { until } from '../harness/process.ts';
import type { Provider } from '../harness/provider.ts';
import { Conversation, plain, prose } from './conversation.ts';

export type Launch = (extraEnv?: Record<string, string>) => Promise<DevBuild>;

/** What the window shows about the recovery at startup. */
export class Recovery {
  /** The line above the conversation. */
  readonly notice: Locator;
  readonly report: Locator;

  constructor(private readonly page: Page) {
    this.notice = page.getByRole('status', { name: 'Recovery' });
    this.report = page.getByRole('article', { name: 'Recovery report' });
  }

  /** Opens the report in the inspector. */
  async open(): Promise<Locator> {
    await this.page.getByRole('tab', { name: /^Activity/ }).click();
    await expect(this.report).toBeVisible();
    return this.report;
  }
}

/**
 * Sends a message and kills the program while the answer arrives; returns the text that was shown. That is everything
 * that the provider has sent, so the journal has the same lines on every machine.
 */
export async function crashDuringAnswer(launch: Launch, page: Page, provider: Provider, before = async () => {}): Promise<string> {
  const question = 'Tell me';
  provider.answer(question, prose(100), { chunkSize: 15, holdAfter: 40 });
  const program = await launch();
  const chat = new Conversation(page);
  await chat.ask(question);
  const shown = await chat.waitForText(1, 530);
  await before();
  await program.crash();
  return shown;
}

/** Sends a message, and makes the dev build exit at a fault point. */
export async function exitAt(launch: Launch, page: Page, point: string, question = 'Tell me'): Promise<void> {
  const program = await launch({ CONTEXTINFINITY_FAULT: `${point}:exit` });
  await new Conversation(page).ask(question);
  await until(`the program exits at ${point}`, () => !program.running);
}

/** The stream journal, of which there must be exactly one, with functions that damage it. */
export function journalFile(home: Home): { text: string; append: (text: string) => void; corruptLine: (line: number) => void } {
  const dir = join(home.dataDir, 'streams');
  const names = readdirSync(dir).filter((name) => name.endsWith('.jsonl'));
  expect(names).toHaveLength(1);
  const file = join(dir, names[0]!);
  return {
    text: readFileSync(file, 'utf8'),
    append: (text) => appendFileSync(file, text),
    corruptLine: (line) => {
      const lines = readFileSync(file, 'utf8').split('\n');
      lines[line - 1] = 'not a journal entry';
      writeFileSync(file, lines.join('\n'));
    },
  };
}

/** A field of the session's state, as the tooltip of the status in the header has it. */
export async function statusField(chat: Conversation, label: string): Promise<string> {
  const lines = await chat.header.locator('[data-field="status"]').evaluate((status: HTMLElement) => status.dataset['tip'] ?? status.title);
  return lines.split('\n').find((line) => line.startsWith(`${label}: `)) ?? '';
}

/** The committed head. */
export const head = (chat: Conversation): Promise<string> => statusField(chat, 'Head');

/** The byte counts of the stream: durable and displayed. */
export async function byteCounts(chat: Conversation): Promise<{ durable: number; displayed: number; text: string }> {
  return parseByteCounts(await statusField(chat, 'Stream'));
}

/** Parses the text of the header field that shows the byte counts. */
export function parseByteCounts(fieldText: string): { durable: number; displayed: number; text: string } {
  const match = /([\d\s]+?)\s*\/\s*([\d\s]+?)\s*B/.exec(fieldText.replace(/[\u202f\u00a0]/g, ''));
  if (!match) throw new Error(`the header shows no byte counts: ${fieldText}`);
  return { durable: Number(match[1]), displayed: Number(match[2]), text: plain(fieldText) };
}
