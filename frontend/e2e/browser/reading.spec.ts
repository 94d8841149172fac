import { expect, test } from '../harness/fixtures.ts';
import { variants } from '../harness/tier.ts';
import { Conversation } from './conversation.ts';

test.beforeEach(({ home, provider }) => home.configure(provider));

const fence = '```';
const lines = Array.from({ length: 120 }, (_, i) => `line ${i + 1} of the listing, ${i === 99 ? 'with the needle and words that go on until they run over the edge of the block and have to be wrapped or scrolled, whichever one likes better' : 'short'}`);
const table = [
  '| Model | Requests per second | Latency p99 | What it is good for in daily work | Price | Licence | Remarks about deployment and operation |',
  '|---|--:|--:|---|--:|---|---|',
  '| llama-3.3-70b-instruct | 12 480 | 41.2 ms | Long answers about code, and the summaries of long documents in several languages | 1 234.50 EUR | Apache-2.0 | Needs two cards of 48 GB and a driver newer than 550, else it falls back to the processor |',
].join('\n');

for (const [width, height] of variants([1280, 800], [900, 600])) {
  test(`a wide table scrolls itself and breaks no word, at ${width}x${height}`, async ({ provider, launch, page }) => {
    await page.setViewportSize({ width, height });
    provider.answer('A table', `Here it is.\n\n${table}\n\nThe end of it.`);
    await launch();
    const chat = new Conversation(page);
    await chat.askAndWait(1, 'A table', 'The end of it.');
    await page.reload(); // now the answer is drawn at once, not while it arrives
    const scroller = chat.answer(1).locator('.data-scroll');
    await expect(scroller).toHaveAttribute('tabindex', '0'); // reachable by keyboard too
    const layout = await scroller.evaluate((element) => ({
      inner: element.scrollWidth, outer: element.clientWidth, page: document.documentElement.scrollWidth - innerWidth,
      // Cells that must not wrap have one line; no cell is narrower than its longest word.
      lines: [...element.querySelectorAll<HTMLElement>('.number, .short')].map((cell) => {
        const style = getComputedStyle(cell);
        const range = document.createRange();
        range.selectNodeContents(cell);
        return Math.round(range.getBoundingClientRect().height / parseFloat(style.lineHeight));
      }),
    }));
    expect(layout.inner).toBeGreaterThan(layout.outer);
    expect(layout.page).toBeLessThanOrEqual(0);
    expect(new Set(layout.lines)).toEqual(new Set([1]));
    await scroller.focus();
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => scroller.evaluate((element) => element.scrollLeft)).toBeGreaterThan(0);
  });
}

test('long code is folded with its line count, unfolded by its button and by a search, wrapped and numbered', async ({ provider, launch, page }) => {
  provider.answer('A listing', `Before it.\n\n${fence}text listing.txt\n${lines.join('\n')}\n${fence}\n\nThe end of it.`, { chunkSize: 400, holdAfter: 6 });
  await launch();
  const chat = new Conversation(page);
  await chat.ask('A listing');
  await expect(chat.answer(1)).toContainText('line 9 of the listing');
  provider.release('A listing');
  await expect(chat.answer(1)).toContainText('The end of it.');
  await expect(chat.stop).toBeHidden();
  const code = chat.answer(1).locator('.code');
  const pre = code.locator('pre');
  const height = async () => (await pre.boundingBox())!.height;
  await expect(code.locator('.code__more')).toBeHidden(); // code that grew while the user watched is not folded
  await page.reload();
  const more = code.getByRole('button', { name: 'Show all 120 lines' });
  await expect(more).toBeVisible();
  const folded = await height();
  expect(folded).toBeLessThan(500);
  await more.click();
  await expect.poll(height).toBeGreaterThan(folded * 3);
  await code.getByRole('button', { name: 'Show fewer lines' }).click();
  await expect.poll(height).toBe(folded);

  await page.keyboard.press('Control+f');
  await page.keyboard.type('the needle');
  await expect(page.getByRole('search', { name: 'Find in this session' })).toContainText('1 of 1');
  await expect.poll(height).toBeGreaterThan(folded * 3);
  await page.keyboard.press('Escape');
  await expect(page.getByRole('search', { name: 'Find in this session' })).toHaveCount(0);

  const isWide = () => pre.evaluate((element) => element.scrollWidth > element.clientWidth);
  expect(await isWide()).toBe(true);
  await code.hover();
  await code.getByRole('button', { name: 'Wrap long lines' }).click();
  await expect.poll(isWide).toBe(false);
  const codeText = await pre.evaluate((element) => element.textContent);
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog', { name: 'Commands' }).getByRole('combobox').fill('>line numbers');
  await page.keyboard.press('Enter');
  await expect(code.locator('.code__line')).toHaveCount(120);
  expect(await pre.evaluate((element) => element.textContent)).toBe(codeText);
  await expect(code.getByRole('button', { name: 'Copy code' })).toBeVisible();
});

test('long code is folded on request while it arrives, and stays folded', async ({ provider, launch, page }) => {
  provider.answer('A listing', `Before it.\n\n${fence}text listing.txt\n${lines.join('\n')}\n${fence}\n\nThe end of it.`, { chunkSize: 40, holdAfter: [70] });
  await launch();
  const chat = new Conversation(page);
  await chat.ask('A listing');
  const pre = chat.answer(1).locator('pre');
  const height = async () => (await pre.boundingBox())!.height;
  const fewer = chat.answer(1).getByRole('button', { name: 'Show fewer lines' });
  const more = chat.answer(1).getByRole('button', { name: /^Show all \d+ lines$/ });
  await expect(chat.answer(1)).toContainText('line 60 of the listing');
  const [code, button] = [(await chat.answer(1).locator('.code').boundingBox())!, (await fewer.boundingBox())!];
  expect([Math.round(button.x), Math.round(button.width), Math.round(button.y)], 'the button is the lower edge of the block').toEqual([Math.round(code.x), Math.round(code.width), Math.round(code.y + code.height)]);
  const unfolded = await height();
  await fewer.focus();
  await page.keyboard.press('Enter');
  await expect.poll(height).toBeLessThan(unfolded / 2);
  const folded = await height();
  await expect(more).toBeFocused();

  provider.release('A listing');
  await expect(chat.answer(1)).toContainText('The end of it.');
  await expect(chat.stop).toBeHidden();
  await expect(more).toHaveText('Show all 120 lines');
  await expect(more).toBeFocused();
  expect(await height()).toBe(folded);
  await more.click();
  await expect.poll(height).toBeGreaterThan(unfolded);
});

test('a button of code that arrives gets its click however much arrives while it is pressed, and the end is followed again', async ({ provider, launch, page }) => {
  provider.answer('A listing', `${fence}text listing.txt\n${lines.join('\n')}\n${fence}\n\nThe end of it.`, { chunkSize: 40, holdAfter: [18] });
  await launch();
  const chat = new Conversation(page);
  await chat.ask('A listing');
  await expect(chat.answer(1)).toContainText('line 15 of the listing');
  await chat.answer(1).getByRole('button', { name: 'Copy code' }).hover();
  await page.mouse.down();
  provider.release('A listing');
  await expect(chat.answer(1)).toContainText('The end of it.');
  await expect(chat.stop).toBeHidden();
  await page.mouse.up();
  await expect(page.getByText('Copied', { exact: true })).toBeVisible();
  await expect(chat.answer(1).getByText('The end of it.')).toBeInViewport();
});

test('footnotes link to their text and back, with the keyboard', async ({ provider, launch, page }) => {
  provider.answer('With notes', `It is so[^a].\n\n${'More words.\n\n'.repeat(60)}[^a]: Because it was.\n\nThe end of it.`);
  await launch();
  const chat = new Conversation(page);
  await chat.askAndWait(1, 'With notes', 'The end of it.');
  const reference = chat.answer(1).getByRole('button', { name: 'Footnote a', exact: true });
  await reference.focus();
  await page.keyboard.press('Enter');
  const note = chat.answer(1).locator('.note');
  await expect(note).toBeFocused();
  await expect(note).toBeInViewport();
  await note.getByRole('button').press('Enter');
  await expect(reference).toBeFocused();
  await expect(reference).toBeInViewport();
});

test('each paragraph has the direction of its text', async ({ provider, launch, page }) => {
  provider.answer('Directions', 'English first.\n\nשלום עולם, זו פסקה.\n\n- An item\n- פריט\n\nThe end of it.');
  await launch();
  const chat = new Conversation(page);
  await chat.askAndWait(1, 'Directions', 'The end of it.');
  const side = (text: string) => chat.answer(1).getByText(text).evaluate((element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    const [textBox, blockBox] = [range.getBoundingClientRect(), element.closest('.block')!.getBoundingClientRect()];
    return textBox.left - blockBox.left < blockBox.right - textBox.right ? 'left' : 'right';
  });
  expect([await side('English first.'), await side('שלום עולם, זו פסקה.'), await side('An item'), await side('פריט')]).toEqual(['left', 'right', 'left', 'right']);
});

test('formulas are drawn while the answer is arriving', async ({ provider, launch, page }) => {
  provider.answer('A proof', `We know \\(a^2+b^2=c^2\\) and\n\n\\[ x = \\frac{1}{2} \\]\n\nand \\(y_1\\) in a paragraph ${'that goes on and on '.repeat(60)}.`, { chunkSize: 12, holdAfter: 24 });
  await launch();
  const chat = new Conversation(page);
  await chat.ask('A proof');
  await expect(chat.stop).toBeVisible();
  await expect(chat.answer(1).locator('.katex')).toHaveCount(3); // including the last one, in the paragraph that is still growing
  await expect(chat.stop).toBeVisible();
  provider.release('A proof');
});

test('nothing moves or is cut off when an answer that was watched settles', async ({ provider, launch, page }) => {
  const numbered = Array.from({ length: 12 }, (_, i) => `${i + 1}. item ${i + 1}`).join('\n');
  const text = `Before.\n\n${numbered}\n\n---\n\nAfter the line.\n\n- [ ] a task with many words ${'that wrap '.repeat(30)}\n\nThe last words of it. ${'More. '.repeat(30)}`;
  provider.answer('A list', text, { chunkSize: 10, holdAfter: Math.floor(text.length / 10) - 6 });
  await launch();
  const chat = new Conversation(page);
  await chat.ask('A list');
  await expect(chat.answer(1)).toContainText('The last words');
  const measure = () => chat.answer(1).evaluate((answer) => {
    const top = answer.getBoundingClientRect().top;
    return [...answer.querySelectorAll('.block')].map((block) => Math.round(block.firstElementChild!.getBoundingClientRect().top - top));
  });
  await expect.poll(() => chat.answer(1).locator('.prose').getAttribute('data-growing')).not.toBeNull();
  const before = await measure();
  const list = chat.answer(1).locator('ol');
  // What a block contains is clipped at its edge while it grows, and numbers are drawn outside the list.
  expect(await list.evaluate((element) => element.getBoundingClientRect().left - element.parentElement!.getBoundingClientRect().left)).toBeGreaterThan(24);
  provider.release('A list');
  await expect(chat.turn(1)).toHaveAccessibleName(/, saved/);
  await expect.poll(() => chat.answer(1).locator('.prose').getAttribute('data-growing')).toBeNull();
  expect(await measure()).toEqual(before);
  // The text of a task is beside its box in every line.
  const task = chat.answer(1).locator('.task');
  expect(await task.evaluate((box) => {
    const lines = document.createRange();
    lines.selectNodeContents(box.parentElement!);
    return [...lines.getClientRects()].filter((line) => line.width > 40).every((line) => line.left >= box.getBoundingClientRect().right - 1);
  })).toBe(true);
});
