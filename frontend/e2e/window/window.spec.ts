import { expect } from '@playwright/test';
import { cli } from '../harness/fixtures.ts';
import { canaryKey } from '../harness/home.ts';
import { built, Child, listeningPorts, processTree, until } from '../harness/process.ts';
import { exhaustive } from '../harness/tier.ts';
import { plain, prose } from '../browser/conversation.ts';
import { waitForWindow } from './desktop.ts';
import { xdotool } from './dragging.ts';
import { byteCounts, completeFirstRun, completeFirstRunWithKey, composer, conversationText, field, test, turnName } from './fixtures.ts';

test('from the first run to a complete answer, which is shown again after closing and reopening', async ({ provider, vendors, open, home }) => {
  const text = prose(40);
  provider.answer('Tell me, window', text, { chunkSize: 24, holdAfter: 25 });
  let desktop = await open();
  await completeFirstRunWithKey(desktop);
  await desktop.page.type(composer, 'Tell me, window\uE007');

  await until('the answer begins', async () => (await conversationText(desktop)).includes('Sentence 1 of'));
  expect(await conversationText(desktop)).not.toContain('Sentence 40 of');
  provider.release('Tell me, window');
  await until('the answer ends', async () => (await conversationText(desktop)).includes('Sentence 40 of'));
  await until('the turn is committed', async () => /, saved/.test(await turnName(desktop)));
  expect(plain(await conversationText(desktop))).toContain(plain(text));
  const picture = await desktop.page.screenshot();
  expect(picture.length).toBeGreaterThan(20_000); // a blank window compresses to far less
  expect(vendors.keys).toEqual(new Set([canaryKey]));
  const size = () => desktop.page.run<string>(`return innerWidth + ' x ' + innerHeight`);
  xdotool('windowsize', desktop.window, 1010, 640);
  await until('the window is smaller', async () => (await size()) === '1010 x 640');
  expect(await desktop.close()).toBe(true);

  desktop = await open();
  await until('the turn is shown again', async () => (await conversationText(desktop)).includes('Sentence 40 of'));
  await until('the window has its size again', async () => (await size()) === '1010 x 640');
  // Without a keyring the key was only used in that run, and was not written anywhere.
  expect(home.filesContaining(canaryKey)).toEqual([]);
  expect(await desktop.close()).toBe(true);
});

test('SRD 22.2: after kill -9 while an answer streams, the received part is shown byte for byte as incomplete, and the head is unchanged', async ({ provider, open, home }) => {
  const text = prose(200);
  provider.answer('Tell me, window', text, { chunkSize: 16, holdAfter: 40 });
  let desktop = await open();
  await completeFirstRunWithKey(desktop);
  await desktop.page.type(composer, 'Tell me, window\uE007');
  await until('some of the answer is shown', async () => (await conversationText(desktop)).includes('Sentence 6 of'));
  await until('the shown text is durable', async () => (await byteCounts(desktop)).text.includes('durable'));
  const shown = await byteCounts(desktop);
  expect(shown.durable).toBe(shown.displayed);
  const head = await field(desktop, 'Head');
  await desktop.crash();

  const [journal] = [...home.journals().values()];
  expect(journal?.end).toBe('');
  const journalText = journal?.text ?? 'no journal';
  expect(Buffer.byteLength(journalText)).toBeGreaterThanOrEqual(shown.durable); // at least the bytes that were shown as durable
  desktop = await open();
  await until('the turn is incomplete', async () => /incomplete/i.test(await turnName(desktop)));
  expect(plain(await conversationText(desktop))).toContain(plain(journalText));
  const bytes = Buffer.byteLength(journalText);
  expect(await byteCounts(desktop)).toMatchObject({ durable: bytes, displayed: bytes });
  expect(await field(desktop, 'Head')).toBe(head);
  expect(await field(desktop, 'Turn')).toContain('Incomplete');
  expect(await desktop.page.has('[aria-label="Recovery"]'), 'a line that repeats what the card says').toBe(false);

  await desktop.page.press('Keep');
  await until('the kept answer is the head', async () => (await conversationText(desktop)).includes('Partial answer, kept') && (await field(desktop, 'Head')).includes('#1'));
  expect(plain(await conversationText(desktop))).toContain(plain(journalText));
  expect(await desktop.close()).toBe(true);
  expect(cli(home, 'verify')).toContain('No problems found');
});

test('SRD 22.3: after kill -9 between the answer and its commit, the turn is pending, and is then committed once',
  exhaustive, async ({ provider, open, home }) => {
  // The answer to the librarian, which writes the state, is held while the program is killed. Its timeout is long
  // enough not to expire during the test.
  const librarianPrompt = 'Write the updated memory.';
  home.configure(provider, '[librarian]\nmodel = "mock"\ntimeout_s = 600');
  provider.answer('Tell me, window', 'A whole answer.');
  provider.answer(librarianPrompt, 'no state', { holdAfter: 0 });
  let desktop = await open();
  await completeFirstRun(desktop);
  await desktop.page.type(composer, 'Tell me, window\uE007');
  await until('the turn is pending', async () => /pending/.test(await turnName(desktop)));
  await until('the librarian sends its request', () => provider.questions().some((question) => question.trimEnd().endsWith(librarianPrompt)));
  const head = await field(desktop, 'Head');
  expect(head).toContain('#0');
  await desktop.crash();

  provider.answer(librarianPrompt, 'no state', { holdAfter: 0 });
  desktop = await open();
  await until('the turn is pending again', async () => /pending/.test(await turnName(desktop)));
  expect(await conversationText(desktop)).toContain('A whole answer.');
  expect(await field(desktop, 'Head')).toBe(head);
  provider.release(librarianPrompt);
  await until('the turn is committed', async () => /saved, latest/.test(await turnName(desktop)) && (await field(desktop, 'Head')).includes('#1'));
  expect(await desktop.close()).toBe(true);
  expect(cli(home, 'verify')).toContain('No problems found');
});

test('the production program listens on no port, and ends on SIGTERM', async ({ home }) => {
  const program = new Child(built('contextinfinity'), [], home.env(), home.root);
  try {
    await waitForWindow(program.pid);
    expect(processTree(program.pid).flatMap(listeningPorts)).toEqual([]);
    expect(await program.stop()).toBe(true);
  } finally {
    if (program.running) await program.crash();
  }
});

test('the check for listening ports finds a server', async ({ home }) => {
  const script = "require('http').createServer().listen(0, '127.0.0.1', () => console.log('listening'))";
  const program = new Child(process.execPath, ['-e', script], home.env(), home.root);
  await until('the server listens', () => program.output.includes('listening'));
  expect(processTree(program.pid).flatMap(listeningPorts)).toHaveLength(1);
  await program.stop();
});
