import { inspect } from '../harness/axe.ts';
import { expect, test } from '../harness/fixtures.ts';
import { Conversation } from './conversation.ts';

test('three models answer one question: the answers arrive side by side, are still there after a crash, and are continued and merged', async ({ home, provider, launch, page }) => {
  home.configure(provider);
  const question = 'Which index would you add?';
  const answer = 'On the table of orders I would add a partial index on those that are open. It is small, since most are closed within the hour, and the planner takes it for the query that lists them: at any moment few of them are open at once.';
  provider.answer('Hello', 'Good morning.');
  provider.answer(question, answer, { holdAfter: 9 });
  const program = await launch();
  const chat = new Conversation(page);
  await chat.askAndWait(1, 'Hello', 'Good morning.');

  await page.getByRole('button', { name: /^Model and effort: mock/ }).click();
  const dialog = page.getByRole('dialog', { name: 'Model and effort' });
  await dialog.getByText('Several models').click();
  await dialog.getByRole('button', { name: /^mock-messages/ }).click();
  await dialog.getByRole('button', { name: /^mock-chat/ }).click();
  await inspect(page, 'the dialog to choose several models');
  await dialog.getByRole('button', { name: 'Use 3 models' }).click();
  await chat.ask(question);

  const view = page.getByRole('region', { name: 'Answers side by side' });
  const column = (model: string) => view.getByRole('region', { name: `Answer from ${model}`, exact: true });
  const models = ['mock', 'mock-messages', 'mock-chat'];
  await expect(view.getByRole('heading', { name: '3 answers to #2' })).toBeVisible();
  // All of them stream at the same time; none waits for another.
  for (const model of models) await expect(column(model)).toContainText('B saved');
  const tops = await Promise.all(models.map(async (model) => (await column(model).locator('[data-answer]').boundingBox())!.y));
  expect(new Set(tops).size, 'the answers begin at the same height').toBe(1);
  // Columns that do not fit are reached by scrolling; nothing is cut off.
  await page.setViewportSize({ width: 900, height: 600 });
  await column('mock-chat').scrollIntoViewIfNeeded();
  await expect(column('mock-chat').getByRole('button', { name: 'Continue with mock-chat' })).toBeInViewport();
  await inspect(page, 'several answers while they arrive');
  provider.release(question);
  for (const model of models) await expect(column(model)).toContainText('few of them are open at once.');
  for (const model of models) await expect(column(model).getByRole('button', { name: /^Stop/ })).toBeHidden();

  // Each answer is an ordinary turn, so all are shown again without any saved state of the window.
  await program.crash();
  await launch();
  await page.getByRole('button', { name: 'Answers side by side' }).click();
  for (const model of models) await expect(column(model)).toContainText('few of them are open at once.');

  await inspect(page, 'several complete answers');
  await column('mock-chat').getByRole('button', { name: 'Continue with mock-chat' }).click();
  await expect(view).toBeHidden();
  provider.answer('Why so few?', 'Most are done within the hour.');
  await chat.askAndWait(3, 'Why so few?', 'Most are done within the hour.');

  provider.answer('End of answer 3 ===', 'All three agree on the partial index.');
  await page.getByRole('button', { name: 'Answers side by side' }).click();
  await view.getByRole('button', { name: 'Merge' }).click();
  await page.getByRole('menuitem', { name: /^mock-messages/ }).click();
  await expect(chat.answer(2)).toContainText('All three agree on the partial index.');
  await expect(chat.turn(2)).toContainText('3 models answered the question below');
  await expect(chat.turn(2).getByRole('group', { name: 'Versions of turn 2' })).toContainText('4/4');
  // The merged answer is the only one to its message.
  await expect(page.getByRole('button', { name: 'Answers side by side' })).toHaveCount(0);
});

test('several models answer the next messages too, which are written below their answers', async ({ home, provider, launch, page }) => {
  home.configure(provider);
  provider.answer('', 'A short answer.', { chunkSize: 200 });
  await launch();
  const chat = new Conversation(page);
  await chat.ready();
  await page.getByRole('button', { name: /^Model and effort: mock/ }).click();
  const dialog = page.getByRole('dialog', { name: 'Model and effort' });
  await dialog.getByText('Several models').click();
  await dialog.getByRole('button', { name: /^mock-messages/ }).click();
  await dialog.getByRole('button', { name: 'Use 2 models' }).click();
  await chat.ask('The first question');
  const view = page.getByRole('region', { name: 'Answers side by side' });
  await expect(view.getByRole('heading', { name: '2 answers to #1' })).toBeVisible();
  const field = view.getByRole('textbox', { name: 'Your message' });
  await expect(field).toBeFocused();
  await expect(view.getByText('A short answer.')).toHaveCount(2);
  await expect(view.getByRole('button', { name: 'Model and effort: 2 models' })).toBeVisible();
  await page.keyboard.type('The second question');
  await expect(view.getByRole('button', { name: 'Send (Enter)' })).toBeEnabled();
  await page.keyboard.press('Enter');
  await expect(view.getByRole('heading', { name: '2 answers to #2' })).toBeVisible();
  await expect(view.getByText('A short answer.')).toHaveCount(2);
  expect(provider.questions().filter((question) => question.includes('The second question'))).toHaveLength(2);
  await expect(field).toBeFocused();
  await inspect(page, 'answers with the message field below');
  await page.setViewportSize({ width: 900, height: 600 });
  await expect(field).toBeInViewport();
  await page.keyboard.press('Escape');
  await expect(view).toBeHidden();
  await expect(chat.composer).toBeFocused();
});
