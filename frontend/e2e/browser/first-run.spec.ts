import { readFileSync } from 'node:fs';
import { inspect } from '../harness/axe.ts';
import { onOllamasPort } from '../harness/ollama.ts';
import { Provider } from '../harness/provider.ts';
import { Vendors } from '../harness/vendors.ts';
import { canaryKey } from '../harness/home.ts';
import { expect, test } from '../harness/fixtures.ts';
import { exhaustive } from '../harness/tier.ts';
import { Conversation } from './conversation.ts';

test.describe('first run', () => {
  test('with a key: tested at once, then used in a conversation', async ({ home, provider, launch, page }) => {
    test.skip(process.platform !== 'linux', 'SSL_CERT_FILE is read only on Linux');
    const vendors = await Vendors.start(home, provider);
    provider.answer('Hello there', 'A greeting from the vendor.');
    await launch(vendors.env);

    await page.getByLabel('API key').fill(canaryKey);
    await page.getByRole('button', { name: 'Test the key' }).click();
    await expect(page.getByText(/provider cannot be determined from this key/)).toBeVisible(); // several vendors use the prefix sk-
    expect(vendors.keys).toEqual(new Set());
    await page.getByRole('button', { name: 'OpenAI', exact: true }).click();
    await expect(page.getByRole('status').filter({ hasText: /OpenAI.*model/ })).toBeVisible();
    await page.getByRole('region', { name: 'Use a key' }).getByRole('button', { name: /^Start with/ }).click();

    const chat = new Conversation(page);
    await expect(chat.composer).toBeFocused();
    await chat.askAndWait(1, 'Hello there', 'A greeting from the vendor.');
    expect(vendors.keys).toEqual(new Set([canaryKey]));
    expect(vendors.requests.at(-1)).toBe('api.openai.com /v1/responses');
    expect(home.filesContaining(canaryKey)).toEqual([]);
    await vendors.stop();
  });

  test('with a server on this machine', async ({ home, launch, page }) => {
    const started = await onOllamasPort(Provider.startAt);
    test.skip(started === undefined, 'something else listens on port 11434 of this machine');
    const server = started as Provider;
    try {
      server.answer('Are you local?', 'Yes, on this very machine.');
      await launch();
      await expect(async () => {
        const retry = page.getByRole('button', { name: 'Check again' });
        if (await retry.isVisible()) await retry.click({ timeout: 2_000 }); // the machine was too busy to respond in time
        await expect(page.getByText('Ollama answered')).toBeVisible({ timeout: 10_000 });
      }).toPass();
      await page.getByRole('region', { name: 'Use this computer' }).getByRole('button', { name: /^Start with/ }).click();

      const chat = new Conversation(page);
      await expect(chat.composer).toBeFocused();
      await chat.askAndWait(1, 'Are you local?', 'Yes, on this very machine.');
      expect(readFileSync(home.configFile, 'utf8')).toContain('http://127.0.0.1:11434');
    } finally {
      await server.stop();
    }
  });

  test('with a server at another address, without a key', exhaustive, async ({ home, provider, launch, page }) => {
    provider.answer('Are you there?', 'Yes, at your address.');
    await launch();
    await page.getByRole('region', { name: 'Use this computer' }).getByRole('button', { name: 'A server at another address…' }).click();
    const form = page.getByRole('dialog', { name: 'Add a compatible server' });
    await inspect(page, 'the form of a server at the first start');
    await form.getByLabel('Address').fill(`${provider.url}/v1`);
    await form.getByLabel('Model', { exact: true }).fill('my-model');
    await form.getByRole('button', { name: 'Save' }).click();

    const chat = new Conversation(page);
    await expect(chat.composer).toBeFocused();
    await chat.askAndWait(1, 'Are you there?', 'Yes, at your address.');
    expect(readFileSync(home.configFile, 'utf8')).toContain(`${provider.url}/v1`);
  });

  test('without a key or network: recall quotes earlier messages', async ({ launch, page }) => {
    await launch();
    await page.getByRole('button', { name: 'Start with recall' }).click();

    const chat = new Conversation(page);
    await expect(chat.composer).toBeFocused();
    await chat.ask('The migration to Postgres starts on the ninth of May.');
    await expect(chat.answer(1)).not.toBeEmpty();
    await expect(chat.turn(1)).toHaveAccessibleName(/, saved/);
    await chat.ask('When does the Postgres migration start?');
    await expect(chat.answer(2)).toContainText('ninth of May');
  });

  test('is shown only once', async ({ launch, page }) => {
    const first = await launch();
    await page.getByRole('button', { name: 'Start with recall' }).click();
    await expect(new Conversation(page).composer).toBeVisible();
    await first.stop();
    await launch();
    await expect(new Conversation(page).composer).toBeVisible();
    await expect(page.getByRole('button', { name: 'Start with recall' })).toBeHidden();
  });
});
