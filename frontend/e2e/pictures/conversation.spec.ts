import { expect, test } from '../harness/fixtures.ts';
import { runCommand } from '../harness/screens.ts';
import { essay } from '../harness/seed.ts';
import { Conversation } from '../browser/conversation.ts';
import { bothSizes, leave, pictureOpened } from './shots.ts';

// The third part of `make screens`: reading answers and writing messages.
test.use({ deviceScaleFactor: 1, permissions: ['clipboard-read', 'clipboard-write'] });

const fence = '```';
const listing = Array.from({ length: 60 }, (_, i) => `${i + 1}: the lag of the replica was ${(i * 37) % 90} ms${i % 9 === 0 ? ', which is more than the alert allows before somebody is called, so that it was looked at at once' : ''}`);
const answers: Record<string, string> = {
  table: '| Model | Requests per second | Latency p99 | What it is good for in daily work | Price | Licence |\n|---|--:|--:|---|--:|---|\n| llama-3.3-70b-instruct | 12 480 | 41.2 ms | Long answers about code, and the summaries of long documents in several languages | 1 234.50 EUR | Apache-2.0 |\n| qwen3-8b | 48 100 | 9.8 ms | Short answers | 0 EUR | Apache-2.0 |',
  code: `${fence}go throttle.go\n// next returns the batch size.\nfunc (t *Throttle) next(lag time.Duration) int {\n\tif lag > 5*time.Second {\n\t\tt.size /= 2\n\t}\n\treturn t.size\n}\n${fence}\n\n${fence}text lag.txt\n${listing.join('\n')}\n${fence}`,
  prose: '# The first heading\n\nIt is so[^a], and [a source](https://example.org/a) says it. **Bold**, *slanted*, ~~struck~~ and `code`.\n\n## The second\n\n> A quotation that somebody wrote down, and that goes on for more than a line in a column as narrow as this one is.\n\n- [x] Done\n- [ ] Not done\n  - Within it\n\n### The third\n\nWe know \\(a^2+b^2=c^2\\), and\n\n\\[ x = \\frac{-b \\pm \\sqrt{b^2-4ac}}{2a} \\]\n\nשלום עולם, זו פסקה.\n\n---\n\n[^a]: Because it was.',
  diagram: `${fence}mermaid\ngraph LR\n  A[Client] --> B[Server] --> C[(Postgres)]\n${fence}\n\n${fence}svg\n<svg viewBox="0 0 300 80"><rect width="300" height="80" fill="teal"/></svg>\n${fence}`,
};

test('answers with more than text', async ({ home, provider, launch, page }) => {
  home.configure(provider);
  for (const [name, text] of Object.entries(answers)) provider.answer(`Show me ${name}`, `${text}\n\nThe end of it.`, { inputTokens: 900 });
  await launch();
  const chat = new Conversation(page);
  let seq = 0;
  for (const name of Object.keys(answers)) {
    await chat.askAndWait(++seq, `Show me ${name}`, 'The end of it.');
    const previews = chat.answer(seq).getByRole('button', { name: 'Preview', exact: true });
    while ((await previews.count()) > 0) await previews.first().click(); // after the click, the button has another name
    await chat.turn(seq).evaluate((turn) => turn.scrollIntoView({ block: 'start' }));
    await chat.turn(seq).locator('.code').first().hover({ timeout: 1_000 }).catch(() => undefined);
    await bothSizes(page, `reading-${name}`);
  }
});

test('writing: attachments, queue, editing, selection', async ({ home, provider, launch, page }) => {
  home.configure(provider);
  provider.answer('', essay(1), { inputTokens: 3_400 });
  provider.answer('Slowly', essay(0).repeat(3), { chunkSize: 12, holdAfter: 20, inputTokens: 3_400 });
  await launch();
  const chat = new Conversation(page);
  await chat.ready();
  const [picker] = await Promise.all([page.waitForEvent('filechooser'), page.getByRole('button', { name: 'Attach files' }).click()]);
  const dot = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==', 'base64');
  await picker.setFiles([
    { name: 'harbour.md', mimeType: 'text/markdown', buffer: Buffer.from(`# The harbour book\n\n${'The harbour logged three ships, and the wind from the west.\n\n'.repeat(80)}`) },
    { name: 'photograph.png', mimeType: 'image/png', buffer: dot },
  ]);
  await expect(page.getByRole('button', { name: 'Remove harbour.md' })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Stop attaching harbour.md' })).toBeHidden();
  await chat.composer.fill('What do these two say about the harbour?\n\nIn a few words.');
  await bothSizes(page, 'composer-attachments');
  await chat.composer.press('Enter');
  await expect(chat.turn(1)).toHaveAccessibleName(/, saved/);
  await bothSizes(page, 'message-attachments');
  await chat.turn(1).getByRole('button', { name: /^Read the document harbour\.md/ }).click();
  await expect(page.getByRole('dialog', { name: 'harbour.md' })).toBeVisible();
  await bothSizes(page, 'document');
  await leave(page);

  await chat.turn(1).hover();
  await chat.turn(1).getByRole('button', { name: /^Edit and resend/ }).click();
  await bothSizes(page, 'composer-editing');
  await page.keyboard.press('Escape');
  await chat.composer.fill('');
  await page.evaluate((text) => navigator.clipboard.writeText(text), 'A line that somebody pasted, and that goes on.\n'.repeat(400));
  await chat.composer.focus();
  await page.keyboard.press('Control+v');
  await expect(page.getByRole('button', { name: 'Attach as document' })).toBeVisible();
  await bothSizes(page, 'composer-long-paste');
  await chat.composer.fill('');
  await chat.composer.fill('/nonsense that is no command');
  await chat.composer.press('Enter');
  await expect(page.getByRole('button', { name: /as text/ })).toBeVisible();
  await bothSizes(page, 'composer-unknown-command');
  await chat.composer.fill('');
  await pictureOpened(page, 'field-menu', () => chat.composer.click({ button: 'right' }));

  await chat.ask('Slowly');
  await chat.waitForText(2, 100);
  await chat.composer.fill('And then?');
  await expect(chat.send).toBeEnabled();
  await chat.composer.press('Enter');
  await expect(page.getByRole('button', { name: 'Edit the queued message' })).toBeVisible();
  await bothSizes(page, 'composer-queued');
  await page.getByRole('button', { name: 'Edit the queued message' }).click();
  await chat.stop.click();
  await expect(chat.turn(2)).toContainText(/stopped/i);
  await bothSizes(page, 'turn-stopped');
  await runCommand(page, 'Pause or resume background work');
  await expect(page.getByRole('region', { name: 'Notices' }).getByRole('group')).toBeVisible();
  await bothSizes(page, 'notice');
});
