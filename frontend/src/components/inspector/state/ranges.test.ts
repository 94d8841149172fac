import { screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, it } from 'vitest';
import { chooseLanguage } from '$lib/i18n/i18n.svelte';
import { mountIn, startedApp } from '../../../test/mount';
import RangeList from './RangeList.svelte';

it.each([
  [0, /the model sees every turn in full/],
  [9623, /turns up to #9623 no longer fit in full/],
  [9623, 'none yet; extracts replace all turns up to #9623'],
])('says what is sent while no range is summarized, up to turn %i', async (cut, text) => {
  const { app } = await startedApp({ data: 'rich' });
  mountIn(app, RangeList, { ranges: [], cut, turns: 2, busy: false, onturn: () => undefined, onsummarize: () => undefined });
  expect(screen.getByText(text)).toBeInTheDocument();
});

const range = (by: string, at = 0, content = 'Said so.') => ({ id: `${at}`, fromSeq: 10 * at + 1, toSeq: 10 * at + 10, by, content, tokens: 10, originalTokens: 100, createdAt: 0, inUse: true, orphan: false, validation: '' });

it('shows the sections of a range in the language of the window', async () => {
  const { app } = await startedApp({ data: 'rich' });
  await chooseLanguage('de', []);
  mountIn(app, RangeList, { ranges: [range('extract', 0, '## Open tasks\n- [ ] test it\n')], cut: 20, turns: 20, busy: false, onturn: () => undefined, onsummarize: () => undefined });
  await userEvent.click(screen.getByRole('button', { name: /1.*10/, expanded: false }));
  expect(screen.getByText(/## Offene Aufgaben/)).toHaveTextContent('## Offene Aufgaben - [ ] test it');
  await chooseLanguage('en', []);
});

it.each([
  [['haiku'], 'Range summaries'],
  [['extract'], 'Extracts'],
  [['extract', 'haiku'], 'Range summaries and extracts'],
])('made by %s is labelled %s', async (makers, title) => {
  const { app } = await startedApp({ data: 'rich' });
  mountIn(app, RangeList, { ranges: makers.map((maker, i) => range(maker, i)), cut: 20, turns: 20, busy: false, onturn: () => undefined, onsummarize: () => undefined });
  expect(screen.getByText(title)).toBeInTheDocument();
});

it.each([[0, true], [1, true], [2, false]])('offers to summarize from the second turn on: %i turns', async (turns, disabled) => {
  const { app } = await startedApp({ data: 'rich' });
  mountIn(app, RangeList, { ranges: [], cut: Math.max(0, turns - 1), turns, busy: false, onturn: () => undefined, onsummarize: () => undefined });
  for (const name of ['Summarize all', 'Summarize now']) {
    const button = screen.getByRole('button', { name });
    expect([(button as HTMLButtonElement).disabled, button.title === 'There is nothing to summarize before the second turn.']).toEqual([disabled, disabled]);
  }
});

it('has nothing to summarize now while every turn fits', async () => {
  const { app } = await startedApp({ data: 'rich' });
  mountIn(app, RangeList, { ranges: [], cut: 0, turns: 5, busy: false, onturn: () => undefined, onsummarize: () => undefined });
  expect(screen.getByRole('button', { name: 'Summarize all' })).toBeEnabled();
  expect(screen.getByRole('button', { name: 'Summarize now' })).toBeDisabled();
  expect(screen.getByTitle('Every turn still fits in full.')).toBeVisible();
});
