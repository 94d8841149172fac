import { inspect } from '../harness/axe.ts';
import { expect, test } from '../harness/fixtures.ts';
import { Conversation } from './conversation.ts';

/** A fact in the middle of a document that is far larger than the prompt. Nothing else in the document resembles it. */
const fact = 'The lighthouse keeper of Skagen was called Ottilie Vestergaard.';
const chapter = (number: number) => `## Chapter ${number}\n\nOn the ${number}th day the harbour logged ${number * 3} ships, their cargo of timber, and the wind from the west.\n`;
const book = ['# The harbour book', ...Array.from({ length: 400 }, (_, i) => chapter(i + 1) + (i === 199 ? `\n${fact}\n` : ''))].join('\n');

test('a document is attached, read, and recalled by a fact in its middle', async ({ home, provider, launch, page }) => {
  home.configure(provider, '[budget]\nworking_set_tokens = 9000\n');
  provider.answer('What is this book?', 'A book about a harbour.');
  provider.answer('Who was the lighthouse keeper of Skagen?', 'Ottilie Vestergaard.');
  await launch();
  const chat = new Conversation(page);
  await chat.ready();

  const [picker] = await Promise.all([page.waitForEvent('filechooser'), page.getByRole('button', { name: 'Attach files' }).click()]);
  await picker.setFiles({ name: 'harbour.md', mimeType: 'text/markdown', buffer: Buffer.from(book) });
  await expect(page.getByRole('button', { name: 'Remove harbour.md' })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Stop attaching harbour.md' })).toBeHidden(); // the draft is saved now
  await page.reload();
  await chat.ready();
  await expect(page.getByRole('button', { name: 'Remove harbour.md' })).toBeVisible(); // the draft contains the document

  await chat.askAndWait(1, 'What is this book?', 'A book about a harbour.');
  await expect(chat.turn(1)).toContainText('harbour.md');
  await expect(chat.turn(1)).toContainText('in part');
  await inspect(page, 'a message with a document');
  await expect(chat.turn(1)).toHaveAccessibleName(/, saved/);
  await chat.turn(1).getByRole('button', { name: /^Read the document harbour\.md/ }).click();
  const viewer = page.getByRole('dialog', { name: 'harbour.md' });
  await expect(viewer.getByText('# The harbour book')).toBeVisible();
  await inspect(page, 'the viewer of a document');
  await page.keyboard.press('Escape');
  await expect(viewer).toBeHidden();

  const first = JSON.stringify(provider.lastRequest());
  expect(first).toContain('<document name=\\"harbour.md\\">');
  expect(first).not.toContain('Ottilie');
  await chat.askAndWait(2, 'Who was the lighthouse keeper of Skagen?', 'Ottilie Vestergaard.');
  const second = JSON.stringify(provider.lastRequest());
  expect(second).toContain(fact);
  expect(second).toContain('<memory>');
});

test('a file that is not a document is rejected with a message, and the text stays', async ({ home, provider, launch, page }) => {
  home.configure(provider);
  await launch();
  const chat = new Conversation(page);
  await chat.ready();
  await chat.composer.fill('Look at this');
  const [picker] = await Promise.all([page.waitForEvent('filechooser'), page.getByRole('button', { name: 'Attach files' }).click()]);
  await picker.setFiles({ name: 'photo.raw', mimeType: 'application/octet-stream', buffer: Buffer.from([1, 0, 2, 0]) });
  await expect(page.getByRole('alert')).toContainText('photo.raw is not a text file; nothing was attached.');
  await expect(chat.composer).toHaveValue('Look at this');
});
