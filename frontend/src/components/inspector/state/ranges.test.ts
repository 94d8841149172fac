import { screen } from '@testing-library/svelte';
import { expect, it } from 'vitest';
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

it.each([
  [['haiku'], 'Range summaries'],
  [['extract'], 'Extracts'],
  [['extract', 'haiku'], 'Range summaries and extracts'],
])('made by %s is labelled %s', async (makers, title) => {
  const { app } = await startedApp({ data: 'rich' });
  const ranges = makers.map((maker, i) => ({ id: `${i}`, fromSeq: 10 * i + 1, toSeq: 10 * i + 10, by: maker, content: 'Said so.', tokens: 10, originalTokens: 100, createdAt: 0, inUse: true, orphan: false, validation: '' }));
  mountIn(app, RangeList, { ranges, cut: 20, turns: 20, busy: false, onturn: () => undefined, onsummarize: () => undefined });
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
