import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '../harness/fixtures.ts';
import { Conversation } from './conversation.ts';

test.beforeEach(({ home, provider }) => home.configure(provider));
test.use({ isHostile: true });

const fence = '```';

test('a diagram, a picture and a page are shown in a frame without permissions', async ({ provider, launch, page }) => {
  // A server that receives every request that leaves the page. Request events would also include those that the policy
  // refuses.
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(request.url ?? '');
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const dialogs: string[] = [];
  provider.answer('Draw', [
    `${fence}mermaid\n%%{init: {"securityLevel": "loose"}}%%\ngraph TD\n  A[Client] --> B[Server]
  click A "javascript:alert(1)"\n${fence}`,
    `${fence}svg\n<svg viewBox="0 0 300 80" onload="alert(1)"><script>alert(1)</script>
<image href="${origin}/x.png"/><rect width="300" height="80"/></svg>\n${fence}`,
    `${fence}html\n<meta http-equiv="refresh" content="0;url=${origin}/r">
<style>@import "${origin}/x.css"; p { color: red; background: url(${origin}/y.png) }</style>
<p onclick="alert(1)">Words of the page</p><script>parent.postMessage(1, '*'); fetch('${origin}')</script>
<img src="${origin}/z.png" onerror="alert(1)"><iframe src="${origin}/f"></iframe>
<form action="${origin}/s"><button>Go</button></form><a href="${origin}/l" target="_top">Away</a>\n${fence}`,
    'The end of it.',
  ].join('\n\n'));
  const program = await launch();
  page.on('dialog', (dialog) => {
    dialogs.push(dialog.message());
    void dialog.dismiss();
  });
  const chat = new Conversation(page);
  await chat.askAndWait(1, 'Draw', 'The end of it.');
  const answer = chat.answer(1);
  // A complete diagram is drawn at once; a picture and a page are shown only on request.
  const [diagram, ...others] = await answer.locator('.code').all();
  await expect(diagram!.locator('iframe')).toHaveCount(1);
  expect(await answer.locator('iframe').count()).toBe(1);
  for (const block of [diagram!, ...others]) {
    if (block !== diagram) await block.getByRole('button', { name: 'Preview' }).click();
    await expect(block.locator('iframe')).toHaveAttribute('sandbox', '');
    await expect(block.locator('pre')).toBeHidden();
  }
  const frames = answer.locator('iframe');
  await expect(frames).toHaveCount(3);
  const pageOf = (index: number) => frames.nth(index).contentFrame();
  const isDrawn = (index: number) =>
    pageOf(index).locator('img').evaluate((image: HTMLImageElement) => image.complete && image.naturalWidth > 0);
  await expect.poll(() => isDrawn(0)).toBe(true);
  await expect.poll(() => isDrawn(1)).toBe(true);
  await expect(pageOf(2).getByText('Words of the page')).toBeVisible();
  expect((await frames.nth(0).boundingBox())!.height).toBeLessThanOrEqual(520);
  await pageOf(2).getByText('Words of the page').click();
  await pageOf(2).getByText('Away').click();
  await pageOf(2).getByRole('button', { name: 'Go' }).click();
  await expect(pageOf(2).getByText('Words of the page')).toBeVisible();
  // With the keyboard: the list keeps scrolling to its end while a frame grows, so a click would miss the button.
  await answer.getByRole('button', { name: 'Show the code' }).first().press('Enter');
  await expect(answer.locator('.code').first().locator('pre')).toBeVisible();
  // In a dark window a diagram is dark too.
  await page.emulateMedia({ colorScheme: 'dark' });
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
  await answer.getByRole('button', { name: 'Preview' }).first().press('Enter');
  await expect(frames.first()).toHaveAttribute('data-picture', 'dark');
  const background = pageOf(0).locator('body').evaluate((body) => getComputedStyle(body).backgroundColor);
  expect(await background).toBe('rgb(22, 24, 28)');
  expect(page.url()).toBe(`${program.url}/`);
  expect([dialogs, requests]).toEqual([[], []]);
  server.close();
});

test('a diagram is drawn once while the text goes on, one that is not valid stays text, and a closed one stays closed', async ({ provider, launch, page }) => {
  provider.answer('Plan', [
    `${fence}mermaid\ngraph TD\n  A[First] --> B[Second]\n${fence}`,
    `${fence}mermaid\ngraph TD\n  A[First -->\n${fence}`,
    Array.from({ length: 30 }, (_, i) => `Line ${i} of the rest.`).join('\n\n'),
    'The end of it.',
  ].join('\n\n'), { chunkSize: 12 });
  await launch();
  const chat = new Conversation(page);
  await chat.ready();
  // Every element that is added to or removed from a block of code is recorded.
  await page.evaluate(() => {
    const frames: number[] = ((window as unknown as { frames2: number[] }).frames2 = []);
    new MutationObserver(() => {
      const count = document.querySelectorAll('.answer iframe').length;
      if (frames.at(-1) !== count) frames.push(count);
    }).observe(document.body, { childList: true, subtree: true });
  });
  await chat.askAndWait(1, 'Plan', 'The end of it.');
  const [valid, broken] = await chat.answer(1).locator('.code').all();
  await valid!.scrollIntoViewIfNeeded();
  await expect(valid!.locator('iframe')).toHaveCount(1);
  await expect(broken!.locator('pre')).toBeVisible();
  await expect(broken!.locator('.preview')).toHaveCount(0);
  expect(await page.evaluate(() => (window as unknown as { frames2: number[] }).frames2)).toEqual([0, 1]);
  await valid!.getByRole('button', { name: 'Show the code' }).press('Enter');
  await expect(valid!.locator('pre')).toBeVisible();
  await page.keyboard.press('Control+n');
  await expect(chat.turn(1)).toBeHidden();
  await page.locator('[data-session]').last().click();
  await chat.turn(1).locator('.code').first().scrollIntoViewIfNeeded();
  await expect(chat.turn(1).locator('.code').first().locator('pre')).toBeVisible();
});
