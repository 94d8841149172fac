import { inspect } from '../harness/axe.ts';
import { expect, test } from '../harness/fixtures.ts';
import { Conversation } from './conversation.ts';

test.use({ isHostile: true });

const fence = '```';
const site = (title: string, more = '') => `Here it is.\n\n${fence}html\n<h1>${title}</h1>\n<p>About the bakery</p>\n<p>Open from five</p>${more}\n${fence}\n\nThe end of it.`;

test('a page is shown beside the answers with its versions, without running anything', async ({ home, provider, launch, page }) => {
  home.configure(provider);
  provider.answer('Make a page', site('First'), { chunkSize: 200 });
  provider.answer('Change it', site('Second', '\n<script>document.title = "ran"</script>'), { chunkSize: 200 });
  provider.answer('Once more', site('Third'), { chunkSize: 200 });
  await launch();
  const chat = new Conversation(page);
  await chat.ready();
  await chat.askAndWait(1, 'Make a page', 'The end of it.');
  await chat.askAndWait(2, 'Change it', 'The end of it.');

  await chat.answer(1).locator('.code').hover();
  await chat.answer(1).getByRole('button', { name: /^Show beside the answers/ }).click();
  const panel = page.getByRole('region', { name: 'HTML, beside the answers' });
  const frame = panel.locator('iframe');
  await expect(panel.getByText('1 of 2')).toBeVisible();
  await expect(frame).toHaveAttribute('sandbox', '');
  await expect(frame.contentFrame().getByRole('heading', { name: 'First' })).toBeVisible();
  await panel.getByRole('button', { name: 'Newer version' }).press('Enter');
  await expect(frame.contentFrame().getByRole('heading', { name: 'Second' })).toBeVisible();
  await expect(page).not.toHaveTitle('ran');

  // The newest version is shown when it arrives; Esc closes the panel.
  await chat.askAndWait(3, 'Once more', 'The end of it.');
  await expect(panel.getByText('3 of 3')).toBeVisible();
  await expect(frame.contentFrame().getByRole('heading', { name: 'Third' })).toBeVisible();
  await panel.getByRole('button', { name: 'Show the code' }).click();
  await expect(panel.locator('pre')).toContainText('<h1>Third</h1>');
  await inspect(page, 'code beside the answers');
  await page.setViewportSize({ width: 900, height: 600 });
  await inspect(page, 'a page over the answers in a narrow window');
  await panel.getByRole('button', { name: 'Close (Esc)' }).press('Escape');
  await expect(panel).toBeHidden();
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog', { name: 'Commands' }).getByRole('combobox').fill('newest code, page or diagram');
  await expect(page.getByRole('dialog', { name: 'Commands' }).getByRole('option', { selected: true })).toContainText(/newest code, page or diagram/i);
  await page.keyboard.press('Enter');
  await expect(panel.getByText('3 of 3')).toBeVisible();
  await page.keyboard.press('Control+n');
  await expect(panel).toBeHidden();
});
