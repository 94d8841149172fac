import { expect } from '@playwright/test';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { verb } from '../harness/fixtures.ts';
import { belonging, until } from '../harness/process.ts';
import { everything, installed } from '../harness/toolscreens.ts';
import type { Desktop } from './desktop.ts';
import { composer, pastFirstStart, said, say, test } from './fixtures.ts';

test.skip(!installed, 'the MCP servers of test/mcp are not installed (scripts/setup test)');

const control = '\uE009';
const shift = '\uE008';
const alt = '\uE00A';
const enter = '\uE007';
const escape = '\uE00C';
const long = 'trigger-long-running-operation';

/** The configuration of another program: a real server whose input is also recorded. */
const configuration = (record: string) => JSON.stringify({
  mcpServers: { everything: { command: 'sh', args: ['-c', 'tee -a "$0" | exec "$1" "$2" stdio', record, process.execPath, everything] } },
});

/** The number of calls of a tool that the server received, over all its starts. */
function calls(record: string, tool: string): number {
  const lines = existsSync(record) ? readFileSync(record, 'utf8').split('\n').filter((line) => line.includes('"tools/call"')) : [];
  return lines.filter((line) => JSON.parse(line).params.name === tool).length;
}

/** The full text of a call's card in its turn. */
function card({ page }: Desktop, tool: string): Promise<string> {
  return page.text(`[aria-label="Call to everything.${tool}"]`);
}

/** Opens the queue of calls with its keys; the waiting call has the focus. */
async function openQueue({ page }: Desktop): Promise<void> {
  await page.keys(control, shift, 'A');
  await until('the waiting call has the focus', () => page.run<boolean>(`return document.activeElement.matches('dialog[open] [data-entry] [aria-expanded="true"]')`));
}

/** Decides with Alt and a letter, which count once the card has been in front for half a second. */
async function decideBy({ page }: Desktop, letter: string): Promise<void> {
  await new Promise((passed) => setTimeout(passed, 600));
  await page.keys(alt, letter);
}

/** Imports the server from the configuration of another program, and accepts two of its tools. */
async function connect({ page }: Desktop, text: string): Promise<void> {
  await page.keys(control, ',');
  await page.press('Tool servers', 'nav[aria-label="Settings"]');
  await page.press('From another program');
  await until('a field to paste into', () => page.run<boolean>(`return document.activeElement.matches('dialog[open] textarea')`));
  await page.paste(text);
  await page.press('Review');
  await until('the server is previewed before the import', async () => (await page.text('dialog[open]')).includes('server-everything'));
  await page.press('Add 1 server');
  await until('the server runs', async () => /Running/.test(await page.text('section[aria-label="everything"]')));
  await page.press('Tools', 'nav[aria-label="Settings"]');
  for (const tool of ['echo', long]) {
    await page.press(tool, 'section[aria-label="everything"]');
    await page.press('Accept', 'section[aria-label="everything"] details[open]');
    await until(`${tool} is accepted`, () => page.run<boolean>(`return !document.querySelector('section[aria-label="everything"] details[open]').innerText.includes('Models are offered it from then on')`));
    await page.press(tool, 'section[aria-label="everything"]');
  }
  await page.keys(escape);
  await until('the conversation again', () => page.has(composer));
}

test('a real server: imported, called, allowed with the keyboard; killed during a call, whose outcome the user decides', async ({ provider, open, home }) => {
  test.setTimeout(600_000); // each wait has its own limit, which stops a test that hangs
  const record = join(home.root, 'sent.jsonl');
  home.configure(provider, '[tools]\nmode = "enabled"');
  provider.callsTools('Echo my greeting', 'I ask the server.', [{ name: 'everything__echo', arguments: { message: 'good morning' } }], 'The server echoed it.');
  provider.callsTools('Do the long work', 'I start it.', [{ name: `everything__${long}`, arguments: { duration: 3600, steps: 3600 } }], 'As you found it.');
  provider.answer('And now?', 'Now we go on.');

  let desktop = await open({ LANG: 'C' });
  await pastFirstStart(desktop);
  await connect(desktop, configuration(record));

  await say(desktop, 'Echo my greeting');
  await until('the call waits', async () => (await card(desktop, 'echo')).includes('Waits for you'));
  const offered = ((provider.lastRequest() as { tools: { function?: { name: string }; name?: string }[] }).tools).map((tool) => tool.function?.name ?? tool.name);
  expect(offered.filter((name) => name?.startsWith('everything__')).sort()).toEqual(['everything__echo', `everything__${long}`]); // only accepted ones
  expect(await desktop.page.run<boolean>('return document.activeElement.matches(arguments[0])', composer)).toBe(true);
  await openQueue(desktop);
  await new Promise((passed) => setTimeout(passed, 600));
  for (const letter of 'so add another one') await desktop.page.keys(letter); // a message typed into the queue by mistake
  expect(calls(record, 'echo')).toBe(0);
  expect(await card(desktop, 'echo')).toContain('Waits for you');
  await decideBy(desktop, 'o');
  await until('the answer with the result', async () => (await said(desktop)).includes('The server echoed it.'));
  expect(await card(desktop, 'echo')).toMatch(/Done/);
  expect(await card(desktop, 'echo')).toContain('Echo: good morning');
  expect(calls(record, 'echo')).toBe(1);

  await say(desktop, 'Do the long work');
  await until('the second call waits', async () => (await card(desktop, long)).includes('Waits for you'));
  await openQueue(desktop);
  await decideBy(desktop, 'o');
  await until('the second call runs', async () => /Running/.test(await card(desktop, long)));
  await until('the server received it', () => calls(record, long) === 1);
  await desktop.crash();
  await until('the server has ended', () => belonging(home.root).length === 0);

  desktop = await open({ LANG: 'de_DE.UTF-8' });
  await until('its outcome is unknown', async () => (await card(desktop, long)).includes('Outcome unknown'));
  expect(await card(desktop, long)).toContain('It is not run again automatically');
  await openQueue(desktop);
  await decideBy(desktop, 'e');
  await until('a field for what was found', () => desktop.page.run<boolean>(`return document.activeElement.matches('dialog[open] textarea')`));
  await desktop.page.paste('Twelve rows were written.');
  await desktop.page.keys(control, enter);
  await until('the model continues with it', async () => (await said(desktop)).includes('As you found it.'));
  expect(await card(desktop, long)).toContain('Twelve rows were written.');
  await say(desktop, 'And now?');
  await until('the conversation continues', async () => (await said(desktop)).includes('Now we go on.'));
  expect(calls(record, long)).toBe(1);
  expect(await desktop.close()).toBe(true);
  expect(verb(home, 'verify')).toContain('No problems found');
});
