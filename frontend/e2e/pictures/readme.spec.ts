import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '../harness/fixtures.ts';
import { Provider } from '../harness/provider.ts';
import { repository } from '../harness/process.ts';
import { overlays } from '../harness/screens.ts';
import { configureTools, connectPrograms, toolScreens } from '../harness/toolscreens.ts';
import { seedHistory } from '../harness/seed.ts';
import { Conversation, plain } from '../browser/conversation.ts';

// Takes the README's screenshots of the real program. These are not tests, and not part of `make test`.
const directory = join(repository, 'docs/screenshots');
mkdirSync(directory, { recursive: true });

const throttleAnswer = `Yes. Tie the batch size to the lag you measure, not to the clock:

- Under 2 s of lag, grow the batch by a tenth.
- Between 2 s and 5 s, hold.
- Over 5 s, halve it, and never go below 200 rows.

\`\`\`go
// next returns the batch size for the lag just measured.
func (t *Throttle) next(lag time.Duration) int {
	switch {
	case lag < 2*time.Second:
		t.size += t.size / 10
	case lag > 5*time.Second:
		t.size /= 2
	}
	t.size = min(max(t.size, 200), 20_000)
	return t.size
}
\`\`\`

| Hour | Rows copied | Lag p95, fixed | Lag p95, throttled |
|---|--:|--:|--:|
| 01:00 | 412 000 | 3.1 s | 1.9 s |
| 02:00 | 398 000 | 9.4 s | 3.8 s |
`;

const cutOverAnswer = `Cut over when three things hold at the same time, and go back when any one of them stops holding.

**Before.** Reads have been compared for a whole week with no difference that is not explained. The lag has stayed under two
seconds for a day. The person on call has tried the way back once, on the copy, and it took under five minutes.

**During.** Turn reads first, for one service, and leave writes on both sides. Watch the error rate and the slowest
twentieth of requests. If either moves by more than a tenth, turn the flag back and look before trying again.

**After.** Keep writing to the old side for two weeks. Nothing that is written in between is lost, and nobody has to restore
a backup. Only then stop, and only then remove the code.`;

const breadAnswer = `A **no-knead loaf**. It forgives nearly everything:

1. Stir 500 g of flour, 10 g of salt, 1 g of dry yeast and 375 g of water. It may look rough.
2. Cover the bowl and leave it at room temperature for 12 to 18 hours.
3. Fold it over a few times, shape a ball, and let it rest for an hour.
4. Bake it in a hot, lidded pot at 240 °C: 30 minutes with the lid, 15 without.

Time does the work that kneading would do.`;

test('pictures for the README', async ({ home, provider, launch, page }) => {
  home.configure(provider, '\n[stream]\nfsync_ms = 4000\n\n[appearance]\ntheme = "light"\n');
  provider.answer('a fixed rate?', throttleAnswer);
  provider.answer('When may we cut over?', cutOverAnswer, { chunkSize: 9, holdAfter: [50, 75] });
  const program = await launch();
  const chat = new Conversation(page);
  await chat.ask('The backfill fell behind again last night. Can we throttle it by replication lag instead of a fixed rate?');
  await expect(chat.answer(1)).toContainText('3.8 s');
  await expect(chat.turn(1)).toHaveAccessibleName(/, saved/);
  await expect(page.getByText('Nothing pending')).toBeVisible();
  await page.screenshot({ path: join(directory, 'conversation.png') });

  await page.getByRole('tab', { name: /^X-ray/ }).click();
  await expect(page.getByRole('tabpanel')).toContainText('Original');
  await page.screenshot({ path: join(directory, 'xray.png') });
  await page.getByRole('tab', { name: /^Memory/ }).click();
  await page.getByRole('searchbox', { name: /memory/i }).fill('throttle by lag');
  await expect(page.getByRole('tabpanel')).toContainText('best first');
  await page.screenshot({ path: join(directory, 'memory.png') });
  await page.getByRole('tab', { name: /^State/ }).click();

  await chat.ask('When may we cut over?');
  await chat.waitForText(2, 380);
  await expect(chat.header).toContainText('saved'); // the first part is fsynced, the rest is not yet
  provider.release('When may we cut over?');
  await chat.waitForText(2, 560);
  await expect(chat.header).toContainText('buffered');
  await page.screenshot({ path: join(directory, 'streaming.png') });

  await program.crash();
  const part = [...home.journals().values()].at(-1)?.text ?? '';
  await launch();
  await expect(chat.turn(2)).toHaveAccessibleName(/incomplete/i);
  expect(plain(part).length).toBeGreaterThan(400);
  await page.getByRole('tab', { name: /^Activity/ }).click();
  await page.screenshot({ path: join(directory, 'recovery.png') });
});

test('pictures of the tree and of the search', async ({ home, provider, launch, page }) => {
  home.configure(provider, '\n[appearance]\ntheme = "light"\n');
  await launch();
  const chat = new Conversation(page);
  await chat.ready();
  await seedHistory(page, provider, 12);
  await expect(chat.turn(12)).toHaveAccessibleName(/saved, latest/);
  for (const name of ['tree', 'search']) {
    await overlays.find((screen) => screen.name === name)?.show(page);
    await page.screenshot({ path: join(directory, `${name}.png`) });
    await page.keyboard.press('Escape');
  }
});

test('pictures of the first run', async ({ launch, page }) => {
  await page.addInitScript(() => localStorage.setItem('contextinfinity.layout', '{}')); // the default columns
  const server = await Provider.startAt(11434);
  try {
    server.models = ['llama3.2:3b'];
    const question = 'What is a good first bread to bake?';
    server.answer(question, breadAnswer, { inputTokens: 360 });
    await launch();
    await expect(page.getByRole('button', { name: 'Start with llama3.2:3b' })).toHaveAttribute('data-kind', 'primary');
    await page.screenshot({ path: join(directory, 'first-start.png') });
    await page.getByRole('button', { name: 'Start with llama3.2:3b' }).click();
    const chat = new Conversation(page);
    await chat.askAndWait(1, question, breadAnswer);
    const keepWindow = page.getByRole('button', { name: /^Keep 8/ }); // asked because the server does not report the context window of the model
    if (await keepWindow.isVisible()) await keepWindow.click();
    await expect(chat.header).toContainText('Saved');
    await page.screenshot({ path: join(directory, 'first-answer.png') });
  } finally {
    await server.stop();
  }
});

test('picture of a waiting tool call', async ({ home, provider, launch, page }) => {
  const folder = configureTools(home, provider, '\n[appearance]\ntheme = "light"\n');
  writeFileSync(join(folder, 'alerts.yml'), 'alert: replication-lag\nfor: 5m\nthreshold: 10\n');
  provider.callsTools('Raise the threshold to 100', 'I write it into the file.', [{ name: 'write_file', arguments: { path: join(folder, 'alerts.yml'), content: 'alert: replication-lag\nfor: 5m\nthreshold: 100\n' } }], 'It is 100 now.');
  await launch();
  await new Conversation(page).ask('Raise the threshold to 100');
  await expect(page.getByText('1 tool call waits for you')).toBeVisible();
  await page.screenshot({ path: join(directory, 'tools.png') });
});

test('picture of other programs that use the memory', async ({ home, provider, launch, page }) => {
  home.configure(provider, '\n[appearance]\ntheme = "light"\n');
  // As if the program were installed: the configuration to paste contains the AppImage's path, not one of this test.
  await launch({ APPIMAGE: '/opt/ContextInfinity.AppImage', XDG_CONFIG_HOME: '', XDG_DATA_HOME: '' });
  await new Conversation(page).ask('What is the limit of the replication lag?');
  await connectPrograms(page, home);
  await toolScreens.find(({ name }) => name === 'programs')?.show(page);
  await expect(page.getByText('"command": "/opt/ContextInfinity.AppImage"')).toBeVisible();
  await expect(page.getByText(home.root)).toHaveCount(0);
  await page.screenshot({ path: join(directory, 'programs.png') });
});
