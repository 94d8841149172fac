import { canaryKey } from '../harness/home.ts';
import { expect, test } from '../harness/fixtures.ts';
import { Conversation } from './conversation.ts';

test('a key is in no page, storage, file or output, even if the provider echoes it', async ({ home, provider, launch, page }) => {
  home.configure(provider);
  provider.refuse('Is my key good?', 401, `Incorrect API key provided: ${canaryKey}`);
  const program = await launch();
  const chat = new Conversation(page);
  await chat.ask('Is my key good?');
  await expect(chat.turn(1)).toHaveAccessibleName(/failed/); // the echo of the key has arrived
  await expect(chat.turn(1)).toContainText(/key/i);

  // Views of the window that could show the key.
  for (const tab of ['State', 'Activity']) {
    await page.getByRole('tab', { name: new RegExp(`^${tab}`) }).click();
    expect(await page.content()).not.toContain(canaryKey);
  }
  await page.getByRole('button', { name: /settings/i }).first().click();
  await page.getByRole('button', { name: /keys/i }).or(page.getByRole('tab', { name: /keys/i })).or(page.getByRole('link', { name: /keys/i })).first().click();
  await expect(page.getByText('CONTEXTINFINITY_E2E_KEY').first()).toBeVisible();
  expect(await page.content()).not.toContain(canaryKey);
  const stored = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]));
  expect(stored).not.toContain(canaryKey);

  expect([...provider.keys]).toEqual([canaryKey]); // the provider received the key
  await program.stop();
  expect(program.output).not.toContain(canaryKey);
  expect(home.filesContaining(canaryKey)).toEqual([]);
});
