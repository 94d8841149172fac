import type { Locator, Page } from '@playwright/test';
import { expect, test } from '../harness/fixtures.ts';
import { runCommand } from '../harness/screens.ts';
import { Conversation, prose } from './conversation.ts';

/** Every task is done with the keyboard only: the tests fail if a pointer is pressed in the page. */
test.beforeEach(async ({ page }) => {
  await page.addInitScript(() => {
    for (const type of ['pointerdown', 'mousedown', 'touchstart']) addEventListener(type, () => document.documentElement.setAttribute('data-pointed', type), true);
  });
});

test.afterEach(async ({ page }) => {
  await expect(page.locator('html')).not.toHaveAttribute('data-pointed');
});

/** Uses the window with the keyboard. */
class Keys {
  readonly chat: Conversation;

  constructor(readonly page: Page) {
    this.chat = new Conversation(page);
  }

  press(...keys: string[]): Promise<void> {
    return keys.reduce((previous, key) => previous.then(() => this.page.keyboard.press(key)), Promise.resolve());
  }

  type(text: string): Promise<void> {
    return this.page.keyboard.type(text);
  }

  tabTo(target: Locator, key = 'Tab'): Promise<void> {
    return this.chat.tabTo(target, key);
  }

  async activate(target: Locator, key = 'Tab'): Promise<void> {
    await expect(target).toBeEnabled(); // Tab skips it while it is disabled
    await this.tabTo(target, key);
    await this.press('Enter');
  }

  /** Goes to the message field from anywhere, types the text, and sends or runs it. */
  async write(text: string): Promise<void> {
    await this.press('Control+l');
    await expect(this.chat.composer).toBeFocused();
    await this.type(text);
    const button = this.page.getByRole('button', { name: /^(Send|Queue|Run) \(Enter\)/ });
    await expect(button).toBeEnabled();
    await expect(button).not.toHaveAttribute('aria-busy'); // while the previous message is being sent, Enter does nothing
    await this.press('Enter');
  }

  async ask(seq: number, text: string, answer: string): Promise<void> {
    await this.write(text);
    await expect(this.chat.answer(seq)).toContainText(answer);
    await expect(this.chat.stop).toBeHidden();
  }

  expectBranch(name: string | RegExp): Promise<void> {
    return expect(this.chat.header).toContainText(name);
  }
}

test('the first run without a key, and a first message', async ({ launch, page }) => {
  await launch();
  const keys = new Keys(page);
  await keys.activate(page.getByRole('button', { name: 'Start with recall' }));
  await expect(keys.chat.composer).toBeFocused();
  await keys.type('The migration starts on the ninth of May.');
  await keys.press('Enter');
  await expect(keys.chat.answer(1)).not.toBeEmpty();
});

test.describe('with a provider', () => {
  test.beforeEach(async ({ home, provider, launch, page }) => {
    home.configure(provider, '\n[librarian]\nmodel = ""\ncommit = "lazy"\n');
    await launch();
    await new Conversation(page).ready();
  });

  test('send, stop, retry, keep and discard', async ({ provider, page }) => {
    const keys = new Keys(page);
    provider.answer('A short one', 'Short enough.');
    provider.answer('A long one', prose(80), { chunkSize: 16, holdAfter: 20 });
    provider.refuse('Be refused', 400, 'Not today');
    await keys.ask(1, 'A short one', 'Short enough.');

    await keys.write('A long one');
    await keys.chat.waitForText(2, 60);
    await keys.press('Escape');
    await expect(keys.chat.turn(2)).toHaveAccessibleName(/stopped/);

    await keys.write('Be refused');
    await expect(keys.chat.turn(3)).toHaveAccessibleName(/failed/);
    provider.answer('Be refused', 'Well then.');
    await keys.activate(keys.chat.turn(3).getByRole('button', { name: 'Retry' }), 'Shift+Tab');
    await expect(keys.chat.answer(4)).toContainText('Well then.'); // in a separate turn

    for (const [seq, button, name] of [[5, 'Keep', /kept/], [6, 'Discard', /discarded/]] as const) {
      provider.answer(`Break off ${seq}`, prose(60), { chunkSize: 20, dropAfter: 16 });
      await keys.write(`Break off ${seq}`);
      await expect(keys.chat.turn(seq)).toHaveAccessibleName(/incomplete/);
      await keys.activate(keys.chat.turn(seq).getByRole('button', { name: button }), 'Shift+Tab');
      await expect(keys.chat.turn(seq)).toHaveAccessibleName(name);
    }
  });

  test('sessions: create, switch, rename, move to a folder, archive and restore', async ({ provider, page }) => {
    const keys = new Keys(page);
    const list = page.getByRole('group', { name: 'Sessions' });
    const row = (name: string) => list.locator('[data-session]').filter({ hasText: name });
    provider.answer('About harbours', 'Harbours it is.');
    provider.answer('About gardens', 'Gardens it is.');
    await keys.ask(1, 'About harbours', 'Harbours it is.');
    await keys.press('Control+n');
    await expect(page.getByRole('article')).toHaveCount(0);
    await keys.ask(1, 'About gardens', 'Gardens it is.');

    await keys.press('Tab'); // out of the field, where / is a character
    await keys.press('/');
    await keys.type('harb');
    await keys.press('Enter');
    await expect(keys.chat.answer(1)).toContainText('Harbours it is.');

    const field = page.getByRole('textbox', { name: 'Search sessions and messages' });
    await keys.press('Shift+Tab', '/');
    await expect(field).toBeFocused();
    await keys.press('Escape'); // lists all sessions again
    await expect(row('About gardens')).toBeVisible();
    await keys.tabTo(row('About harbours'), 'ArrowDown');
    await keys.press('F2', 'Control+a');
    await keys.type('Cranes and quays');
    await keys.press('Enter');
    await expect(row('Cranes and quays')).toBeFocused();

    await keys.press('m');
    await keys.type('Trips');
    await keys.press('Enter');
    await expect(page.getByRole('dialog')).toBeHidden();
    await expect(list.getByRole('button', { name: /^Trips/ })).toHaveAttribute('aria-expanded', 'true');
    await expect(row('Cranes and quays')).toBeVisible();

    await keys.tabTo(row('Cranes and quays'), 'Tab');
    await keys.press('Delete');
    await expect(row('Cranes and quays')).toHaveCount(0);
    await keys.press('Control+z');
    await expect(row('Cranes and quays')).toBeVisible();
  });

  test('branches: fork, switch, move in the tree, compare, roll back, edit an old message', async ({ provider, page }) => {
    const keys = new Keys(page);
    for (const [text, answer] of [['One', 'First answer.'], ['Two', 'Second answer.'], ['Three', 'Third answer.'], ['Two again', 'Another second.'], ['One, better', 'A better first.']] as const) provider.answer(text, answer);
    await keys.ask(1, 'One', 'First answer.');
    await keys.ask(2, 'Two', 'Second answer.');
    await keys.write('/fork sideways');
    await keys.expectBranch('sideways');
    await keys.ask(3, 'Three', 'Third answer.');

    await keys.press('Control+j');
    await keys.type('main');
    await keys.press('Enter');
    await keys.expectBranch('main');
    await expect(page.getByRole('dialog', { name: 'Switch branch' })).toBeHidden();
    await expect(keys.chat.turn(3)).toHaveCount(0);

    await runCommand(page, 'Show the tree at full size');
    const tree = page.getByRole('tree', { name: 'Branches' });
    const item = (name: RegExp) => tree.getByRole('treeitem', { name });
    await expect(item(/^main/)).toBeFocused(); // the current branch
    await keys.press('End', 'Home', 'ArrowDown');
    await expect(item(/^sideways/)).toBeFocused();
    await keys.press('Enter');
    await keys.expectBranch('sideways');
    await expect(keys.chat.answer(3)).toContainText('Third answer.');

    await keys.write('/compare main');
    await expect(page.getByRole('region', { name: 'Two branches compared' })).toContainText(/2 turns shared/);
    await keys.press('Escape');
    await expect(page.getByRole('region', { name: 'Two branches compared' })).toBeHidden();

    await runCommand(page, 'Show the tree at full size');
    await keys.press('Home');
    await keys.tabTo(page.getByRole('spinbutton', { name: /^Fork or roll back after/ }));
    await keys.type('1');
    await keys.activate(page.getByRole('button', { name: 'Roll back', exact: true }));
    await expect(keys.chat.turn(2)).toHaveCount(0);
    await expect(keys.chat.answer(1)).toContainText('First answer.');
    await expect(keys.chat.header).not.toContainText('sideways');

    await keys.press('Escape', 'Control+j');
    await keys.type('main');
    await keys.press('Enter');
    await expect(keys.chat.answer(2)).toContainText('Second answer.');
    await keys.press('Control+l', 'Control+ArrowUp'); // edits the last message
    await expect(keys.chat.composer).toHaveValue('Two');
    await keys.type(' again');
    await keys.press('Enter');
    await expect(keys.chat.answer(2)).toContainText('Another second.');

    await keys.tabTo(page.getByRole('log', { name: 'Conversation' }), 'Shift+Tab');
    await keys.press('Home', 'Alt+ArrowUp', 'Alt+ArrowUp'); // to the first turn
    await expect(keys.chat.turn(1)).toBeFocused();
    await keys.activate(keys.chat.turn(1).getByRole('button', { name: /^Edit and resend/ }));
    await expect(keys.chat.composer).toHaveValue('One');
    await keys.type(', better');
    await keys.press('Enter');
    await expect(keys.chat.answer(1)).toContainText('A better first.');
    await keys.activate(keys.chat.turn(1).getByRole('button', { name: 'Previous version' }), 'Shift+Tab');
    await expect(keys.chat.answer(1)).toContainText('First answer.');
  });

  test('memory and context: pin, commit, search, find, attach, inspect what is sent', async ({ provider, page }) => {
    const keys = new Keys(page);
    const crane = 'The harbour crane is called Bertha.';
    provider.answer(crane, 'Noted: the crane is Bertha.');
    provider.answer('What else?', `${prose(50)} And tulips.`);
    provider.answer('Who lifts it?', 'Bertha does.');
    await keys.ask(1, crane, 'Noted: the crane is Bertha.');
    await keys.ask(2, 'What else?', 'And tulips.');

    await keys.write('/pin Bertha is closed on Sundays.');
    await expect(page.getByText(/^Pinned: sent word for word/)).toBeVisible();
    await expect(keys.chat.turn(2)).toHaveAccessibleName(/pending/);
    await keys.write('/commit');
    await expect(keys.chat.turn(2)).toHaveAccessibleName(/saved, latest/);

    await keys.press('Control+Shift+F');
    await keys.type('harbour crane');
    await expect(page.getByRole('region', { name: 'Results' }).locator('mark').first()).toBeVisible();
    await keys.press('ArrowDown', 'Enter');
    await expect(keys.chat.turn(1)).toBeInViewport();
    await keys.press('Control+f');
    await keys.press('Control+a');
    await keys.type('tulips');
    await expect(page.getByRole('search', { name: 'Find in this session' })).toContainText('1 of 1');
    await keys.press('Enter', 'Escape');
    await expect(page.getByRole('search', { name: 'Find in this session' })).toBeHidden();

    await keys.write('/recall Bertha');
    const memories = page.getByRole('list', { name: 'Memories' });
    await expect(page.getByRole('heading', { name: /results?$/ })).toBeVisible();
    await keys.tabTo(page.getByRole('searchbox', { name: 'Search memory' }), 'Shift+Tab');
    await keys.press('ArrowDown', 'Enter');
    await keys.activate(memories.getByRole('button', { name: /^Attach / }).first());
    await expect(keys.chat.composer).toBeFocused();
    await keys.ask(3, 'Who lifts it?', 'Bertha does.');
    const sent = JSON.stringify(provider.lastRequest());
    expect(sent).toContain(crane);
    expect(sent).toContain('Bertha is closed on Sundays.');

    await keys.write('/context');
    const xray = page.getByRole('tabpanel', { name: 'X-ray' });
    const pins = xray.locator('[data-section]').filter({ hasText: /Pinned/ });
    await keys.activate(pins.locator('summary'));
    await keys.activate(pins.getByRole('button', { name: /tokens$/ }).first());
    await expect(pins.getByText('Bertha is closed on Sundays.').last()).toBeVisible();
  });

  test('the palette, the shortcut sheet, the settings, theme and text size', async ({ page }) => {
    const keys = new Keys(page);
    const root = page.locator('html');
    await runCommand(page, 'Dark theme');
    await expect(root).toHaveAttribute('data-theme', 'dark');
    await keys.press('Control+/');
    await expect(page.getByRole('dialog', { name: 'Keys and commands' })).toBeVisible();
    await keys.press('Escape');

    await keys.press('Control+,');
    const link = (name: string) => page.getByRole('navigation', { name: 'Settings' }).getByRole('button', { name, exact: true });
    await keys.tabTo(link('General'));
    await keys.press('ArrowDown');
    await expect(link('Appearance')).toBeFocused();
    await keys.press('Enter');
    await keys.tabTo(page.getByRole('radio', { name: 'Dark' }));
    await keys.press('ArrowRight');
    await expect(root).toHaveAttribute('data-theme', 'contrast');
    await keys.press('ArrowLeft', 'ArrowLeft');
    await expect(root).toHaveAttribute('data-theme', 'light');
    const size = async () => Number(await root.evaluate((html) => html.style.getPropertyValue('--text-zoom')));
    await keys.press('Control+=');
    await expect.poll(size).toBeGreaterThan(1);
    await keys.press('Control+0');
    await expect.poll(size).toBe(1);
    await keys.press('Escape');
    await keys.chat.ready();
    await page.reload(); // the theme was saved
    await expect(root).toHaveAttribute('data-theme', 'light');
  });
});
