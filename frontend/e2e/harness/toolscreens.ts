import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from '@playwright/test';
import { expect } from './fixtures.ts';
import type { Home } from './home.ts';
import { Child, built, repository, until, untilCardDecides } from './process.ts';
import type { Provider } from './provider.ts';
import { openSettingsPage, runCommand, type Screen } from './screens.ts';
import { call } from './seed.ts';

/** The script of a real MCP server, which `scripts/setup test` installs. */
export const everythingServer = join(repository, 'test/mcp/node_modules/@modelcontextprotocol/server-everything/dist/index.js');
export const isServerInstalled = existsSync(everythingServer);

/** Configures the home so that models may call tools and write in a folder. Returns the folder. */
export function configureTools(home: Home, provider: Provider, toolsConfig = ''): string {
  const folder = join(home.root, 'project');
  mkdirSync(folder);
  home.configure(provider, `[tools]\nmode = "enabled"\nfolders = ["${folder}"]\n${toolsConfig}`);
  return folder;
}

/**
 * Adds the real server, one that cannot start and one that lacks its secret. Accepts all tools of the real server
 * except one.
 */
export async function connectServers(page: Page): Promise<void> {
  const settings = { enabled: true, command: '', args: [], cwd: '', url: '', timeoutS: 0, env: [], headers: [], oauthClientId: '', oauthPort: 0 };
  await call(page, 'Servers', 'AddServer', { ...settings, name: 'everything', command: process.execPath, args: [everythingServer, 'stdio'] });
  await call(page, 'Servers', 'AddServer', { ...settings, name: 'notes', command: 'no-such-program', args: ['serve', '--all'] });
  await call(page, 'Servers', 'AddServer', { ...settings, name: 'staging-db', enabled: false, command: 'psql-mcp', env: [{ name: 'PGPASSWORD', value: '', secret: true }] });
  const definitions = async () => ((await call(page, 'Tools', 'Panel')).definitions as { source: string; tool: string; hash: string }[]).filter(({ source }) => source === 'everything');
  await until('the tools of the server are known', async () => (await definitions()).length > 5);
  for (const { source, tool, hash } of await definitions()) if (tool !== 'get-sum') await call(page, 'Tools', 'Accept', source, tool, hash);
}

/** Connects two programs: one may read all sessions and has searched; the other may not read anything yet. */
export async function connectPrograms(page: Page, home: Home): Promise<void> {
  await search(home, 'zed');
  await search(home, 'claude-desktop');
  await call(page, 'Programs', 'Allow', { name: 'claude-desktop', scope: 'all', sessions: [], folders: [], remember: true });
  await search(home, 'claude-desktop');
}

/** Searches as another program does, which starts this one as an MCP server. */
async function search(home: Home, client: string): Promise<void> {
  const server = new Child(built('contextinfinity'), ['mcp', '--client', client], home.env(), home.root, 'pipe');
  const message = (id: number, method: string, params: object) => `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;
  server.process.stdin?.write(message(1, 'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: client, version: '1' } }));
  server.process.stdin?.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  server.process.stdin?.write(message(2, 'tools/call', { name: 'search_memory', arguments: { query: 'replication lag' } }));
  await until(`the response to ${client}`, () => server.output.includes('"id":2'));
  server.process.stdin?.end();
  await server.ended;
}

const openSettings = async (page: Page, name: string) => {
  await page.keyboard.press('Control+,');
  await openSettingsPage(page, name);
};
const escapeTwice = async (page: Page) => {
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await page.keyboard.press('Escape');
};
/** A screen that is opened on a page of the settings. */
const onPage = (name: string, settingsName: string, show: (page: Page) => Promise<void>, leave?: Screen['leave']): Screen => ({
  name,
  async show(page) {
    await openSettings(page, settingsName);
    await show(page);
  },
  ...(leave ? { leave } : {}),
});
const serverRegion = (page: Page, name: string) => page.getByRole('region', { name, exact: true });

/** Decides on the frontmost call with Alt and a letter. */
export async function decideWithKey(page: Page, letter: string): Promise<void> {
  await untilCardDecides();
  await page.keyboard.press(`Alt+${letter}`);
}

/** Decides on a call with a click. A click counts once the card has been unchanged for a moment, so it is repeated. */
export async function decideWithClick(card: Locator, choice: RegExp): Promise<void> {
  const button = card.getByRole('button', { name: choice });
  await button.waitFor();
  await expect(async () => {
    if (await button.isVisible()) await button.click();
    await expect(button).toBeHidden({ timeout: 2_000 });
  }).toPass();
}

/** The screens about tools, tool servers and other programs that use the memory. */
export const toolScreens: readonly Screen[] = [
  onPage('tools', 'Tools', async (page) => {
    await serverRegion(page, 'everything').getByText('get-sum').click();
    await expect(page.getByRole('button', { name: 'Accept', exact: true })).toBeVisible();
    await serverRegion(page, 'everything').scrollIntoViewIfNeeded();
  }),
  onPage('tool-servers', 'Tools', async (page) => {
    await expect(serverRegion(page, 'everything')).toContainText('Running');
    await serverRegion(page, 'everything').getByText('Log and self-description').click();
    await expect(serverRegion(page, 'everything')).toContainText('protocol');
  }),
  onPage('server-form-program', 'Tools', async (page) => {
    await page.getByRole('button', { name: 'Enter it by hand…' }).click();
    await page.getByRole('button', { name: 'Add a variable' }).click();
  }, escapeTwice),
  onPage('server-form-address', 'Tools', async (page) => {
    await page.getByRole('button', { name: 'Enter it by hand…' }).click();
    await page.getByRole('radio', { name: 'Address' }).click();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await expect(page.getByRole('alert').first()).toBeVisible();
  }, escapeTwice),
  onPage('server-paste', 'Tools', async (page) => {
    await page.getByRole('button', { name: 'Connect a server…' }).click();
    await expect(page.getByRole('dialog').getByRole('textbox')).toBeFocused();
  }, escapeTwice),
  onPage('server-paste-found', 'Tools', async (page) => {
    await page.getByRole('button', { name: 'Connect a server…' }).click();
    const servers = { files: { command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '/home/me/project'] }, tracker: { command: 'uvx', args: ['tracker-mcp'], env: { TRACKER_TOKEN: 'hush-hush-hush' } } };
    await page.getByRole('dialog').getByRole('textbox').fill(JSON.stringify({ mcpServers: servers }));
    await page.getByRole('button', { name: 'Review', exact: true }).click();
    await expect(page.getByRole('region', { name: 'tracker' })).toBeVisible();
  }, escapeTwice),
  onPage('server-secret', 'Tools', async (page) => { await serverRegion(page, 'staging-db').getByRole('button', { name: /^(Enter|Replace)…/ }).click(); }, escapeTwice),
  onPage('server-remove', 'Tools', async (page) => { await serverRegion(page, 'staging-db').getByRole('button', { name: 'Remove…' }).click(); }, escapeTwice),
  onPage('programs', 'Other programs', async (page) => { await expect(page.getByRole('article', { name: 'claude-desktop' })).toBeVisible(); }),
  onPage('programs-token', 'Other programs', async (page) => {
    await page.getByPlaceholder('Name of the program').fill('editor');
    await page.getByRole('button', { name: 'Make token' }).click();
    await expect(page.getByRole('dialog', { name: 'Token of “editor”' })).toBeVisible();
  }, escapeTwice),
  { name: 'model-picker', show: async (page) => { await page.getByRole('button', { name: /^Model and effort/ }).click(); await expect(page.getByRole('dialog', { name: 'Model and effort' })).toBeVisible(); } },
  { name: 'server-items', show: async (page) => { await runCommand(page, 'Insert a prompt or attach a resource of a tool server'); await expect(page.getByRole('dialog', { name: 'Prompts and resources' })).toContainText('everything'); } },
];

/** Opens the dialog with a question that the server asks during a call. */
export async function elicit(page: Page, provider: Provider): Promise<void> {
  provider.callsTools('Ask me for it', 'I ask.', [{ name: 'everything__trigger-elicitation-request', arguments: {} }], 'Thank you.');
  await page.getByRole('textbox', { name: 'Your message' }).fill('Ask me for it');
  await page.keyboard.press('Enter');
  await decideWithClick(page.getByRole('region', { name: /trigger-elicitation-request/ }), /^Allow once/);
  await expect(page.getByText('The tool server everything asks you something')).toBeVisible();
  await page.getByRole('button', { name: 'Answer…', exact: true }).click();
  await expect(page.getByRole('dialog', { name: 'The server “everything” asks' })).toBeVisible();
}
