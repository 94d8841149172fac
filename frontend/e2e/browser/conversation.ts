import type { Locator, Page } from '@playwright/test';
import { expect } from '../harness/fixtures.ts';

/** Finds the parts of the conversation as a user does: by role and name. */
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

  /** A turn of the branch by its number. The inspector has cards with the same name, which are excluded. */
  turn(seq: number): Locator {
    return this.page.getByRole('article', { name: new RegExp(`^Turn ${seq}\\b`) }).and(this.page.locator('[data-turn]'));
  }

  /** The model's answer in a turn, as drawn. */
  answer(seq: number): Locator {
    return this.turn(seq).locator('.answer');
  }

  /** Waits until a conversation is open: its heading then shows a branch. */
  async ready(): Promise<void> {
    await expect(this.page.getByRole('heading', { level: 1, name: /branch/ })).toBeAttached();
  }

  /** Presses Tab until the target has the focus, like a user who sees the focus. */
  async tabTo(target: Locator, key = 'Tab'): Promise<void> {
    await expect(target).toBeAttached();
    for (let stop = 0; stop < 120; stop++) {
      if (await target.evaluate((element) => element === document.activeElement)) return;
      await this.page.keyboard.press(key);
    }
    throw new Error(`${target} cannot be reached with ${key}`);
  }

  async ask(question: string): Promise<void> {
    await this.ready();
    await this.composer.fill(question);
    await expect(this.send).toBeEnabled(); // not while the previous message is still being sent
    await this.composer.press('Enter');
  }

  /** Sends a message, and waits until the answer is complete and the turn final. */
  async askAndWait(seq: number, question: string, answer: string): Promise<void> {
    await this.ask(question);
    await expect(this.answer(seq)).toContainText(answer.slice(-40).trim());
    await expect(this.stop).toBeHidden();
  }

  /** Waits until the answer has at least that length, and returns the text shown so far. */
  async waitForText(seq: number, minLength: number): Promise<string> {
    let text = '';
    await expect.poll(async () => (text = await this.text(seq)).length).toBeGreaterThanOrEqual(minLength);
    return text;
  }

  /** Waits until the answer is exactly this text. */
  async expectAnswer(seq: number, text: string): Promise<void> {
    await expect.poll(() => this.text(seq)).toBe(plain(text));
  }

  /** The answer's text with normalized white space, because drawing wraps lines. */
  async text(seq: number): Promise<string> {
    const answer = this.answer(seq);
    return (await answer.count()) === 0 ? '' : plain(await answer.innerText());
  }
}

/** Normalizes white space. */
export function plain(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** Numbered sentences that are all different, so that a part shows where it was cut, and a duplicate is noticed. */
export function prose(sentences: number, topic = 'the answer'): string {
  return Array.from({ length: sentences }, (_, i) => `Sentence ${i + 1} of ${topic} is here.`).join(' ');
}
