import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from '@playwright/test';
import { expect } from './fixtures.ts';
import type { Home } from './home.ts';
import { Child, built, repository, until } from './process.ts';
import type { Provider } from './provider.ts';
import { command, settingsPage as openPage, type Screen } from './screens.ts';
import { call } from './seed.ts';

/** A real MCP server, which `scripts/setup test` installs. */
export const everything = join(repository, 'test/mcp/node_modules/@modelcontextprotocol/server-everything/dist/index.js');
export const installed = existsSync(everything);

/** Allows models of this home to call tools, and to write in a folder. */
export function withTools(home: Home, provider: Provider, more = ''): string {
  const folder = join(home.root, 'project');
  mkdirSync(folder);
  home.configure(provider, `[tools]\nmode = "enabled"\nfolders = ["${folder}"]\n${more}`);
  return folder;
}

/**
 * Adds the server, another one that cannot start and one that lacks its secret, and accepts all tools of the first
 * except one.
 */
export async function connectServers(page: Page): Promise<void> {
  const settings = { enabled: true, command: '', args: [], cwd: '', url: '', timeoutS: 0, env: [], headers: [], oauthClientId: '', oauthPort: 0 };
  await call(page, 'Servers', 'AddServer', { ...settings, name: 'everything', command: process.execPath, args: [everything, 'stdio'] });
  await call(page, 'Servers', 'AddServer', { ...settings, name: 'notes', command: 'no-such-program', args: ['serve', '--all'] });
  await call(page, 'Servers', 'AddServer', { ...settings, name: 'staging-db', enabled: false, command: 'psql-mcp', env: [{ name: 'PGPASSWORD', value: '', secret: true }] });
  const known = async () => ((await call(page, 'Tools', 'Panel')).definitions as { source: string; tool: string; hash: string }[]).filter(({ source }) => source === 'everything');
  await until('the tools of the server are known', async () => (await known()).length > 5);
  for (const { source, tool, hash } of await known()) if (tool !== 'get-sum') await call(page, 'Tools', 'Accept', source, tool, hash);
}

/** Two programs that connected: one may see everything and has searched; the other may see nothing yet. */
export async function connectPrograms(page: Page, home: Home): Promise<void> {
  await search(home, 'zed');
  await search(home, 'claude-desktop');
  await call(page, 'Programs', 'Allow', { name: 'claude-desktop', scope: 'all', sessions: [], folders: [], remember: true });
  await search(home, 'claude-desktop');
}

/** Searches like another program that starts this one. */
async function search(home: Home, client: string): Promise<void> {
  const program = new Child(built('contextinfinity'), ['mcp', '--client', client], home.env(), home.root, 'pipe');
  const message = (id: number, method: string, params: object) => `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;
  program.process.stdin?.write(message(1, 'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: client, version: '1' } }));
  program.process.stdin?.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  program.process.stdin?.write(message(2, 'tools/call', { name: 'search_memory', arguments: { query: 'replication lag' } }));
  await until(`${client} is answered`, () => program.output.includes('"id":2'));
  program.process.stdin?.end();
  await program.ended;
}

const settingsPage = async (page: Page, name: string) => {
  await page.keyboard.press('Control+,');
  await openPage(page, name);
};
const twice = async (page: Page) => {
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await page.keyboard.press('Escape');
};
/** Something opened on a page of the settings. */
const onPage = (name: string, at: string, show: (page: Page) => Promise<void>, leave?: Screen['leave']): Screen => ({
  name,
  async show(page) {
    await settingsPage(page, at);
    await show(page);
  },
  ...(leave ? { leave } : {}),
});
const server = (page: Page, name: string) => page.getByRole('region', { name, exact: true });

/** Decides about the call in front with Alt and a letter, which count once its card has been in front for half a second. */
export async function decideBy(page: Page, letter: string): Promise<void> {
  await page.waitForTimeout(600);
  await page.keyboard.press(`Alt+${letter}`);
}

/** Decides about a call with a click, which counts from the same moment. */
export async function decideOn(card: Locator, choice: RegExp): Promise<void> {
  const button = card.getByRole('button', { name: choice });
  await button.waitFor();
  await card.page().waitForTimeout(600);
  await button.click();
}

/** The screens of tools, their servers and the programs that use this memory. */
export const toolScreens: readonly Screen[] = [
  onPage('tools', 'Tools', async (page) => {
    await server(page, 'everything').getByText('get-sum').click();
    await expect(page.getByRole('button', { name: 'Accept', exact: true })).toBeVisible();
    await server(page, 'everything').scrollIntoViewIfNeeded();
  }),
  onPage('tool-servers', 'Tool servers', async (page) => {
    await expect(server(page, 'everything')).toContainText('Running');
    await server(page, 'everything').getByText('Log and self-description').click();
    await expect(server(page, 'everything')).toContainText('protocol');
  }),
  onPage('server-form-program', 'Tool servers', async (page) => {
    await page.getByRole('button', { name: 'Add a server…' }).click();
    await page.getByRole('button', { name: 'Add a variable' }).click();
  }, twice),
  onPage('server-form-address', 'Tool servers', async (page) => {
    await page.getByRole('button', { name: 'Add a server…' }).click();
    await page.getByRole('radio', { name: 'Address' }).click();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await expect(page.getByRole('alert').first()).toBeVisible();
  }, twice),
  onPage('server-paste', 'Tool servers', async (page) => {
    await page.getByRole('button', { name: /^From another program/ }).click();
    await expect(page.getByRole('dialog').getByRole('textbox')).toBeFocused();
  }, twice),
  onPage('server-paste-found', 'Tool servers', async (page) => {
    await page.getByRole('button', { name: /^From another program/ }).click();
    const servers = { files: { command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '/home/me/project'] }, tracker: { command: 'uvx', args: ['tracker-mcp'], env: { TRACKER_TOKEN: 'hush-hush-hush' } } };
    await page.getByRole('dialog').getByRole('textbox').fill(JSON.stringify({ mcpServers: servers }));
    await page.getByRole('button', { name: 'Review', exact: true }).click();
    await expect(page.getByRole('region', { name: 'tracker' })).toBeVisible();
  }, twice),
  onPage('server-secret', 'Tool servers', async (page) => { await server(page, 'staging-db').getByRole('button', { name: /^(Enter|Replace)…/ }).click(); }, twice),
  onPage('server-remove', 'Tool servers', async (page) => { await server(page, 'staging-db').getByRole('button', { name: 'Remove…' }).click(); }, twice),
  onPage('programs', 'Other programs', async (page) => { await expect(page.getByRole('article', { name: 'claude-desktop' })).toBeVisible(); }),
  onPage('programs-token', 'Other programs', async (page) => {
    await page.getByPlaceholder('Name of the program').fill('editor');
    await page.getByRole('button', { name: 'Make token' }).click();
    await expect(page.getByRole('dialog', { name: 'Token of “editor”' })).toBeVisible();
  }, twice),
  { name: 'model-picker', show: async (page) => { await page.getByRole('button', { name: /^Model and effort/ }).click(); await expect(page.getByRole('dialog', { name: 'Model and effort' })).toBeVisible(); } },
  { name: 'server-items', show: async (page) => { await command(page, 'Insert a prompt or attach a resource of a tool server'); await expect(page.getByRole('dialog', { name: 'Prompts and resources' })).toContainText('everything'); } },
];

/** Opens a question that the server asks during a call. */
export async function elicit(page: Page, provider: Provider): Promise<void> {
  provider.callsTools('Ask me for it', 'I ask.', [{ name: 'everything__trigger-elicitation-request', arguments: {} }], 'Thank you.');
  await page.getByRole('textbox', { name: 'Your message' }).fill('Ask me for it');
  await page.keyboard.press('Enter');
  await decideOn(page.getByRole('region', { name: /trigger-elicitation-request/ }), /^Allow once/);
  await expect(page.getByText('The tool server everything asks you something')).toBeVisible();
  await page.getByRole('button', { name: 'Answer…', exact: true }).click();
  await expect(page.getByRole('dialog', { name: 'The server “everything” asks' })).toBeVisible();
}
