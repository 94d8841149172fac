import type { Locator, Page } from '@playwright/test';
import { expect } from '../harness/fixtures.ts';

/** The conversation as a person finds it: by role and name. */
export class Conversation {
  readonly composer: Locator;
  readonly send: Locator;
  readonly stop: Locator;
  readonly header: Locator;

  constructor(readonly page: Page) {
    this.composer = page.getByRole('textbox', { name: 'Your message' });
    this.send = page.getByRole('button', { name: /^(Send|Queue) \(Enter\)/ });
    this.stop = page.getByRole('button', { name: /^Stop/ });
    this.header = page.getByRole('banner');
  }

  /** A turn of the branch, by its number. */
  turn(seq: number): Locator {
    return this.page.getByRole('log').getByRole('article', { name: new RegExp(`^Turn ${seq}\\b`) });
  }

  /** What the model said in a turn, as drawn. */
  answer(seq: number): Locator {
    return this.turn(seq).locator('.answer');
  }

  /** A conversation is open: until then its heading has no branch to name. */
  async ready(): Promise<void> {
    await expect(this.page.getByRole('heading', { level: 1, name: /branch/ })).toBeAttached();
  }

  async ask(question: string): Promise<void> {
    await this.ready();
    await this.composer.fill(question);
    await expect(this.send).toBeEnabled(); // not while the message before is still being handed over
    await this.composer.press('Enter');
  }

  /** Asks, and waits until the answer is whole and the turn final. */
  async askAndWait(seq: number, question: string, answer: string): Promise<void> {
    await this.ask(question);
    await expect(this.answer(seq)).toContainText(answer.slice(-40).trim());
    await expect(this.stop).toBeHidden();
  }

  /** The text shown so far, once it is at least that long. */
  async shown(seq: number, atLeast: number): Promise<string> {
    let text = '';
    await expect.poll(async () => (text = await this.text(seq)).length).toBeGreaterThanOrEqual(atLeast);
    return text;
  }

  /** The answer is exactly this, in the end. */
  async says(seq: number, text: string): Promise<void> {
    await expect.poll(() => this.text(seq)).toBe(plain(text));
  }

  /** The answer's text with its white space made plain: drawing wraps lines, it changes no words. */
  async text(seq: number): Promise<string> {
    const answer = this.answer(seq);
    return (await answer.count()) === 0 ? '' : plain(await answer.innerText());
  }
}

export function plain(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** Numbered sentences: plain words, no two alike, so that a part says where it was cut, and twice would show. */
export function prose(sentences: number, topic = 'the answer'): string {
  return Array.from({ length: sentences }, (_, i) => `Sentence ${i + 1} of ${topic} is here.`).join(' ');
}
