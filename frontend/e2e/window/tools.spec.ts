import { expect } from '@playwright/test';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cli } from '../harness/fixtures.ts';
import { processesWithHome, until, untilCardDecides } from '../harness/process.ts';
import { exhaustive } from '../harness/tier.ts';
import { everythingServer, isServerInstalled } from '../harness/toolscreens.ts';
import type { Desktop } from './desktop.ts';
import { completeFirstRun, composer, conversationText, sendMessage, test } from './fixtures.ts';

test.skip(!isServerInstalled, 'the MCP servers of test/mcp are not installed (scripts/setup test)');

const control = '\uE009';
const shift = '\uE008';
const alt = '\uE00A';
const enter = '\uE007';
const escape = '\uE00C';
const longTool = 'trigger-long-running-operation';

/** The configuration of another program, with a real server whose input is also recorded. */
const configuration = (record: string) => JSON.stringify({
  mcpServers: { everything: { command: 'sh', args: ['-c', 'tee -a "$0" | exec "$1" "$2" stdio', record, process.execPath, everythingServer] } },
});

/** The number of calls of a tool that the server received, in all its runs. */
function countCalls(record: string, tool: string): number {
  const lines = existsSync(record) ? readFileSync(record, 'utf8').split('\n').filter((line) => line.includes('"tools/call"')) : [];
  return lines.filter((line) => JSON.parse(line).params.name === tool).length;
}

/** The text of a call's card in its turn. */
function cardText({ page }: Desktop, tool: string): Promise<string> {
  return page.text(`[aria-label="Call to everything.${tool}"]`);
}

/** Opens the queue of calls with its shortcut, and waits until the waiting call has the focus. */
async function openQueue({ page }: Desktop): Promise<void> {
  await page.keys(control, shift, 'A');
  await until('the waiting call has the focus', () => page.run<boolean>(`return document.activeElement.matches('dialog[open] [data-entry] [aria-expanded="true"]')`));
}

/** Decides with Alt and a letter. */
async function decideWithKey({ page }: Desktop, letter: string): Promise<void> {
  await untilCardDecides();
  await page.keys(alt, letter);
}

/** Imports the server from the configuration of another program, and accepts two of its tools. */
async function importServer({ page }: Desktop, configurationText: string): Promise<void> {
  await page.keys(control, ',');
  await page.press('Tools', 'nav[aria-label="Settings"]');
  await page.press('Connect a server');
  await until('the field to paste into', () => page.run<boolean>(`return document.activeElement.matches('dialog[open] textarea')`));
  await page.paste(configurationText);
  await page.press('Review');
  await until('the server is previewed before the import', async () => (await page.text('dialog[open]')).includes('server-everything'));
  await page.press('Add 1 server');
  await until('the server runs', async () => /Running/.test(await page.text('section[aria-label="everything"]')));
  for (const tool of ['echo', longTool]) {
    await page.press(tool, 'section[aria-label="everything"]');
    await page.press('Accept', 'section[aria-label="everything"] details[open]');
    await until(`${tool} is accepted`, () => page.run<boolean>(`return !document.querySelector('section[aria-label="everything"] details[open]').innerText.includes('Models are offered it from then on')`));
    await page.press(tool, 'section[aria-label="everything"]');
  }
  await page.keys(escape);
  await until('the conversation again', () => page.has(composer));
}

test('a real server is imported and called; after a crash during a call, the user says what it did',
  exhaustive, async ({ provider, open, home }) => {
  const record = join(home.root, 'sent.jsonl');
  home.configure(provider, '[tools]\nmode = "enabled"');
  provider.callsTools('Echo my greeting', 'I ask the server.', [{ name: 'everything__echo', arguments: { message: 'good morning' } }], 'The server echoed it.');
  provider.callsTools('Do the long work', 'I start it.', [{ name: `everything__${longTool}`, arguments: { duration: 3600, steps: 3600 } }], 'As you found it.');
  provider.answer('And now?', 'Now we go on.');

  let desktop = await open({ LANG: 'C' });
  await completeFirstRun(desktop);
  await importServer(desktop, configuration(record));

  await sendMessage(desktop, 'Echo my greeting');
  await until('the call waits', async () => (await cardText(desktop, 'echo')).includes('Waits for you'));
  const offeredTools = ((provider.lastRequest() as { tools: { function?: { name: string }; name?: string }[] }).tools).map((tool) => tool.function?.name ?? tool.name);
  expect(offeredTools.filter((name) => name?.startsWith('everything__')).sort()).toEqual(['everything__echo', `everything__${longTool}`]); // only accepted tools
  expect(await desktop.page.run<boolean>('return document.activeElement.matches(arguments[0])', composer)).toBe(true);
  await openQueue(desktop);
  await untilCardDecides();
  for (const letter of 'so add another one') await desktop.page.keys(letter); // like a message typed into the queue by mistake
  expect(countCalls(record, 'echo')).toBe(0);
  expect(await cardText(desktop, 'echo')).toContain('Waits for you');
  await decideWithKey(desktop, 'o');
  await until('the answer with the result', async () => (await conversationText(desktop)).includes('The server echoed it.'));
  expect(await cardText(desktop, 'echo')).toMatch(/Done/);
  expect(await cardText(desktop, 'echo')).toContain('Echo: good morning');
  expect(countCalls(record, 'echo')).toBe(1);

  await sendMessage(desktop, 'Do the long work');
  await until('the second call waits', async () => (await cardText(desktop, longTool)).includes('Waits for you'));
  await openQueue(desktop);
  await decideWithKey(desktop, 'o');
  await until('the second call runs', async () => /Running/.test(await cardText(desktop, longTool)));
  await until('the server received it', () => countCalls(record, longTool) === 1);
  await desktop.crash();
  await until('the server has ended', () => processesWithHome(home.root).length === 0);

  desktop = await open({ LANG: 'de_DE.UTF-8' });
  await until('the outcome of the call is unknown', async () => (await cardText(desktop, longTool)).includes('Outcome unknown'));
  expect(await cardText(desktop, longTool)).toContain('It is not run again automatically');
  await openQueue(desktop);
  await decideWithKey(desktop, 'e');
  await until('the field for the outcome', () => desktop.page.run<boolean>(`return document.activeElement.matches('dialog[open] textarea')`));
  await desktop.page.paste('Twelve rows were written.');
  await desktop.page.keys(control, enter);
  await until('the model continues with the outcome', async () => (await conversationText(desktop)).includes('As you found it.'));
  expect(await cardText(desktop, longTool)).toContain('Twelve rows were written.');
  await sendMessage(desktop, 'And now?');
  await until('the conversation continues', async () => (await conversationText(desktop)).includes('Now we go on.'));
  expect(countCalls(record, longTool)).toBe(1);
  expect(await desktop.close()).toBe(true);
  expect(cli(home, 'verify')).toContain('No problems found');
});
