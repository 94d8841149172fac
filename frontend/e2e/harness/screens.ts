import type { Page } from '@playwright/test';
import { expect } from './fixtures.ts';
import { waitUntilSettled } from './reach.ts';

/** A screen of the window, and how to open it at any window width from the conversation and return there. */
export interface Screen {
  name: string;
  show(page: Page): Promise<void>;
  /** If undefined, Esc is pressed. */
  leave?(page: Page): Promise<void>;
}

/** Runs a command of the palette. */
export async function runCommand(page: Page, title: string): Promise<void> {
  await page.keyboard.press('Control+k');
  const palette = page.getByRole('dialog', { name: 'Commands' });
  await palette.getByRole('combobox').fill(`>${title}`);
  await expect(palette.getByRole('option', { name: title }).first()).toBeVisible();
  await page.keyboard.press('Enter');
  await expect(palette).toBeHidden();
}

const doNothing = async () => {};
const panel = (name: string, title: string, ready: (page: Page) => Promise<void> = doNothing): Screen => ({
  name,
  async show(page) {
    await runCommand(page, title);
    await expect(page.getByRole('tabpanel')).toBeVisible();
    await expect(page.getByRole('tabpanel').locator('[aria-busy="true"]')).toHaveCount(0);
    await ready(page);
  },
});

async function compare(page: Page): Promise<void> {
  await runCommand(page, 'Compare this branch with another');
  await page.getByRole('dialog').getByRole('list', { name: 'Branches' }).getByRole('button').first().click();
  await expect(page.getByText(/shared, different after/)).toBeVisible();
}

/** Opens the list of sessions if it is hidden: it is a drawer if there is no space beside the conversation. */
export async function openSessions(page: Page): Promise<void> {
  const sessions = page.getByRole('navigation', { name: 'Sessions' });
  if (await sessions.isVisible()) return;
  await page.keyboard.press('Control+b');
  await expect(sessions.locator(':focus')).toHaveCount(1); // the drawer takes the focus when it is open
}

async function clearSelection(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Clear selection (Esc)' }).click();
  await page.keyboard.press('Escape');
}

async function selectSessions(page: Page): Promise<void> {
  await openSessions(page);
  const rows = page.getByRole('navigation', { name: 'Sessions' }).locator('[data-session]');
  await expect(async () => {
    await rows.last().focus(); // after measuring its rows, the list redraws them, and the focus is lost
    await page.evaluate(waitUntilSettled);
    await expect(rows.last()).toBeFocused({ timeout: 100 });
  }).toPass();
  await page.keyboard.press('Control+Space');
  await page.keyboard.press('Shift+ArrowUp');
  await expect(page.getByRole('toolbar', { name: 'Selected sessions' })).toBeVisible();
}

const clearMessage = async (page: Page) => {
  await page.getByRole('textbox', { name: 'Your message' }).fill('');
};

/** The conversation and each tab beside it. */
export const panels: readonly Screen[] = [
  { name: 'conversation', show: doNothing, leave: doNothing },
  panel('branches', 'Show the branches'),
  panel('pending', 'Show pending turns'),
  panel('memory', 'Show the memory', async (page) => {
    await page.getByRole('searchbox', { name: 'Search memory' }).fill('');
    await expect(page.getByText('Newest first').or(page.getByText('No memories yet'))).toBeVisible();
  }),
  panel('memory-results', 'Show the memory', async (page) => {
    await page.getByRole('searchbox', { name: 'Search memory' }).fill('lag at the start of the hour');
    await expect(page.getByRole('tabpanel')).toContainText(/\d results?|No results/);
    await page.getByRole('list', { name: 'Memories' }).getByRole('button').first().click({ timeout: 5_000 }).catch(() => undefined);
  }),
  panel('xray', 'Show the next prompt'),
  panel('xray-saw', 'Show the next prompt', async (page) => {
    await page.getByRole('radio', { name: 'Sent' }).click();
    await expect(page.getByRole('tabpanel')).toContainText('Assembled again');
  }),
  panel('xray-raw', 'Show the next prompt', async (page) => {
    await page.getByRole('radio', { name: 'Sent' }).click();
    await page.getByRole('radio', { name: 'Raw' }).click();
    await expect(page.getByRole('tabpanel').locator('pre').first()).toBeVisible();
  }),
  panel('state', 'Show the state summary and its history'),
  panel('activity', 'Show activity: jobs, metrics, recovery'),
  panel('activity-charts', 'Show activity: jobs, metrics, recovery', async (page) => page.getByRole('region', { name: 'Metrics' }).scrollIntoViewIfNeeded()),
];

/** Views over the conversation, or in its place. */
export const overlays: readonly Screen[] = [
  { name: 'tree', show: async (page) => { await runCommand(page, 'Show the tree at full size'); await expect(page.getByRole('tree', { name: 'Branches' })).toBeVisible(); } },
  { name: 'compare', show: compare },
  { name: 'branch-switcher', show: (page) => page.keyboard.press('Control+j') },
  { name: 'new-branch', show: async (page) => { await page.keyboard.press('Control+j'); await page.getByRole('button', { name: 'Fork from here…' }).click(); } },
  { name: 'palette', show: async (page) => { await page.keyboard.press('Control+k'); await page.getByRole('dialog', { name: 'Commands' }).getByRole('combobox').fill('br'); } },
  { name: 'shortcuts', show: (page) => page.keyboard.press('Control+/') },
  { name: 'search', show: async (page) => {
    await page.keyboard.press('Control+Shift+F');
    await page.getByRole('combobox', { name: /Search titles and messages/ }).fill('replication lag');
    await expect(page.getByRole('region', { name: 'Results' }).locator('mark').first()).toBeVisible();
  } },
  { name: 'find', show: async (page) => {
    await page.keyboard.press('Control+f');
    await page.keyboard.type('lag');
    await expect(page.getByRole('search', { name: 'Find in this session' })).toContainText(/of/);
  } },
  { name: 'go-to', show: (page) => page.keyboard.press('Control+g') },
  { name: 'slash-commands', show: (page) => page.getByRole('textbox', { name: 'Your message' }).fill('/'), leave: clearMessage },
  { name: 'session-settings', show: (page) => runCommand(page, 'Instructions, temperature and effort of this session') },
  { name: 'import', show: async (page) => {
    await page.keyboard.press('Control+o');
    await page.getByRole('textbox', { name: 'Path of a file' }).fill('/nowhere/conversations.json');
    await page.keyboard.press('Enter');
    await expect(page.getByRole('list', { name: 'Files' })).toBeVisible();
  } },
  { name: 'export', show: async (page) => { await page.keyboard.press('Control+e'); await expect(page.getByRole('dialog', { name: 'Export' })).toContainText(/\d turns?/); } },
  { name: 'share', show: async (page) => { await page.keyboard.press('Control+Shift+S'); await expect(page.getByRole('dialog', { name: /^Share/ })).toContainText(/\d turns?/); } },
  { name: 'task-list', show: (page) => runCommand(page, 'Show tasks: imports, exports, backups') },
  { name: 'sessions-selected', show: selectSessions, leave: clearSelection },
  { name: 'rename-branch', show: async (page) => { await runCommand(page, 'Rename this branch'); await expect(page.getByRole('dialog', { name: 'Rename branch' })).toBeVisible(); } },
  { name: 'text-menu', show: async (page) => { await page.locator('article .answer p').last().click({ button: 'right' }); await expect(page.getByRole('menu', { name: 'Actions' })).toBeVisible(); } },
  { name: 'session-menu', show: async (page) => {
    await openSessions(page);
    await page.getByRole('navigation', { name: 'Sessions' }).locator('[data-session]').first().click({ button: 'right' });
    await expect(page.getByRole('menu')).toBeVisible();
  }, leave: async (page) => {
    await page.keyboard.press('Escape');
    await expect(page.getByRole('menu')).toHaveCount(0);
    await page.keyboard.press('Escape');
  } },
  { name: 'tooltip', show: async (page) => { await page.getByRole('banner').locator('[data-field]:not([data-field="model"]):visible').last().hover(); await expect(page.getByRole('tooltip')).toBeVisible(); }, leave: (page) => page.mouse.move(1, 1) },
  { name: 'close-window', show: async (page) => {
    // The program's question when the window is closed during an answer and there is no tray.
    await page.evaluate(() => (window as unknown as { runtime: { EventsEmit(name: string, data: object): void } }).runtime.EventsEmit('ci:window-request', { kind: 'close', sessionId: '', files: [], x: -1, y: -1 }));
    await expect(page.getByRole('dialog', { name: 'Quit while an answer is arriving?' })).toBeVisible();
  } },
  { name: 'delete', show: async (page) => { await runCommand(page, 'Delete this session permanently…'); await expect(page.getByRole('textbox', { name: /To delete it/ })).toBeVisible(); } },
  { name: 'back-up', show: async (page) => { await runCommand(page, 'Back up now…'); await expect(page.getByRole('dialog', { name: 'Back up now' })).toBeVisible(); } },
  { name: 'no-results', show: async (page) => {
    await page.keyboard.press('Control+Shift+F');
    await page.getByRole('combobox', { name: /Search titles and messages/ }).fill('zyzzyva');
    await expect(page.getByText('No results for “zyzzyva”')).toBeVisible();
  }, leave: async (page) => {
    await page.getByRole('combobox', { name: /Search titles and messages/ }).fill('');
    await page.keyboard.press('Escape');
  } },
  { name: 'no-commands', show: async (page) => { await page.keyboard.press('Control+k'); await page.getByRole('dialog', { name: 'Commands' }).getByRole('combobox').fill('>zyzzyva'); await expect(page.getByText(/^No results for/)).toBeVisible(); } },
  { name: 'folder', show: async (page) => { await selectSessions(page); await page.getByRole('button', { name: /^Move to a folder/ }).click(); }, leave: async (page) => { await page.keyboard.press('Escape'); await clearSelection(page); } },
];

/** The temporary chat, opened from a conversation. */
export const temporary: Screen = {
  name: 'temporary-chat',
  show: async (page) => { await page.keyboard.press('Control+Shift+N'); await expect(page.getByRole('heading', { name: 'A temporary chat' })).toBeVisible(); },
  leave: (page) => page.getByRole('button', { name: 'End', exact: true }).click(),
};

/** Opens each page of the settings and two searches in them, and calls `visit` at each. */
export async function visitSettings(page: Page, visit: (name: string) => Promise<void>): Promise<void> {
  await page.keyboard.press('Control+,');
  const pages = page.getByRole('navigation', { name: 'Settings' }).locator('[data-page], option');
  await page.getByRole('checkbox', { name: 'Show all settings and their keys' }).check();
  await expect(pages.filter({ hasText: 'All settings' })).toHaveCount(1);
  for (const name of await pages.allTextContents()) {
    await openSettingsPage(page, name.trim());
    await visit(`settings-${name.trim().toLowerCase().replace(/\W+/g, '-')}`);
  }
  const search = page.getByRole('searchbox', { name: 'Search settings' });
  for (const text of ['backup', 'zyzzyva']) {
    await search.fill(text);
    await expect(page.getByRole('heading', { level: 1, name: `Settings with “${text}”` })).toBeVisible();
    await visit(`settings-search-${text}`);
  }
  await search.press('Escape');
  await page.keyboard.press('Escape');
}

/** Opens a page of the settings, which must be open already: with its link, or in a narrow window with the list. */
export async function openSettingsPage(page: Page, name: string): Promise<void> {
  const nav = page.getByRole('navigation', { name: 'Settings' });
  const link = nav.getByRole('button', { name, exact: true });
  const list = nav.getByRole('combobox', { name: 'Page of the settings' });
  await expect(link.or(list)).toBeVisible();
  if (await list.isVisible()) await list.selectOption(name);
  else await link.click();
  await expect(page.getByRole('heading', { level: 1, name, exact: true })).toBeVisible();
}

/** Opens each screen, calls `visit`, and leaves the screen. */
export async function tour(page: Page, screens: readonly Screen[], visit: (name: string) => Promise<void>): Promise<void> {
  for (const screen of screens) {
    await screen.show(page);
    await visit(screen.name);
    await (screen.leave?.(page) ?? page.keyboard.press('Escape'));
    await expect(page.locator('dialog[open], [popover]:popover-open')).toHaveCount(0);
  }
}

/**
 * Shows the window in a theme without changing the configuration: sets the emulated theme of the system, and the theme
 * of the page.
 */
export async function applyTheme(page: Page, theme: 'light' | 'dark' | 'contrast'): Promise<void> {
  if (theme !== 'contrast') await page.emulateMedia({ colorScheme: theme });
  await page.evaluate((name) => {
    document.documentElement.dataset['theme'] = name;
    return new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  }, theme);
}
