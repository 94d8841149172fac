import { screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';
import { turnMetrics } from '$lib/backend/fake/inspect';
import { turnView } from '$lib/backend/fake/shapes';
import type { TurnMetrics } from '$lib/backend/types';
import type { MetricPoint, MetricsSeries } from '$lib/backend/types';
import { mountIn, startedApp } from '../../../test/mount';
import { mountWith } from '$shared/testing/harness';
import ActivityPanel from '../ActivityPanel.svelte';
import ChartCard from './ChartCard.svelte';
import { charts, quantile, valueOf } from './metrics';
import { tops, withoutRepeats } from './plot';

function point(seq: number, turn: Partial<TurnMetrics> = {}, cost = -1): MetricPoint {
  return { session: 's1', title: 'Rye', at: seq, model: 'sonnet', cost, turn: { ...turnMetrics(turnView({ id: `t${seq}`, seq })), ...turn } };
}

function series(points: MetricPoint[], more: Partial<MetricsSeries> = {}): MetricsSeries {
  const sum = (value: (turn: TurnMetrics) => number) => points.reduce((total, { turn }) => total + value(turn), 0);
  return { points, inputTokens: sum((turn) => turn.inputTokens), outputTokens: 0, cachedTokens: sum((turn) => turn.cachedTokens), cost: null, unpriced: points.length, ...more };
}

describe('quantiles', () => {
  it.each([[[], 0.5, 0], [[7], 0.95, 7], [[4, 1, 3, 2], 0.5, 2], [[1, 2, 3, 4, 5], 0.95, 5]])('of %j at %d is %d', (values, share, expected) => expect(quantile(values, share)).toBe(expected));
});

describe('charts', () => {
  const times = { searchMs: 10, assembleMs: 20, firstByteMs: 300, streamMs: 900, summarizeMs: 50, indexMs: 20 };
  it('has none without turns', () => expect(charts(series([]))).toEqual([]));

  it('stacks the parts of the time of a turn', () => {
    const [time] = charts(series([point(1, times), point(2, { ...times, streamMs: 1_900 })])); // from the request on, as the first byte
    expect(time!.series.map(({ name, values }) => [name, ...values])).toEqual([['Search', 10, 10], ['Assemble', 20, 20], ['First byte', 300, 300], ['Stream', 600, 1_600], ['Summarize', 50, 50], ['Index', 20, 20]]);
    expect(tops(time!).map((line) => line[0])).toEqual([10, 30, 330, 930, 980, 1_000]);
    expect([time!.figure, time!.spoken.includes('95 of 100 at most 2.0\u202fs')]).toEqual(['median 1.0\u202fs', true]);
  });

  it('excludes turns without times from the median', () => {
    const none = { searchMs: 0, assembleMs: 0, firstByteMs: 0, streamMs: 0, summarizeMs: 0, indexMs: 0 };
    expect(charts(series([point(1, times), point(2, none), point(3, none)]))[0]!.figure).toBe('median 1.0\u202fs');
  });

  it('compares counted with reported tokens, and shows the difference', () => {
    const tokens = charts(series([point(1, { inputTokens: 1_000, estimateTokens: 1_100 }), point(2, { inputTokens: 2_000, estimateTokens: 1_900 })])).find(({ id }) => id === 'tokens')!;
    expect(tokens.series.map(({ values }) => values)).toEqual([[1_000, 2_000], [1_100, 1_900]]);
    expect(tokens.spoken).toContain('median error of 5\u202f%');
  });

  it('weights the cache share by tokens, and has none without tokens', () => {
    const cache = charts(series([point(1, { inputTokens: 100, cachedTokens: 0 }), point(2, { inputTokens: 900, cachedTokens: 900 }), point(3, { inputTokens: 0 })])).find(({ id }) => id === 'cache')!;
    expect([cache.figure, cache.series[0]!.values]).toEqual(['90\u202f%', [0, 1, null]]);
  });

  it('shows similarity if vectors found something, and omits it otherwise', () => {
    const found = charts(series([point(1), point(2, { similarityMin: 0.42, similarityMax: 0.9 })])).find(({ id }) => id === 'memory')!;
    expect([found.figure, found.series.map(({ values }) => values)]).toEqual(['0.42 to 0.90', [[null, 0.9], [null, 0.42]]]);
    expect(valueOf(found, null)).toBe('–');
    expect(charts(series([point(1)])).map(({ id }) => id)).not.toContain('memory');
  });

  it('shows costs if prices are known, and says what is missing', () => {
    const cost = charts(series([point(1, {}, 0.02), point(2)], { cost: 0.02, unpriced: 1 })).find(({ id }) => id === 'cost')!;
    expect([cost.figure, cost.series[0]!.values, cost.spoken]).toEqual(['$0.02, not counting 1 turn', [0.02, null], '1 turn cost $0.02 in total. Not included: 1 turn of models without a price.']);
    expect(charts(series([point(1)])).map(({ id }) => id)).not.toContain('cost');
  });
});

describe('a chart', () => {
  it('moves with arrows, is read aloud, and opens a turn with Enter', async () => {
    const { app } = await startedApp();
    const points = [point(7, { inputTokens: 100 }), point(8, { inputTokens: 200 }), point(9, { inputTokens: 300 })];
    const visited: string[] = [];
    mountIn(app, ChartCard, { chart: charts(series(points)).find(({ id }) => id === 'tokens')!, points, names: ['#7', '#8', '#9'], onvisit: (_: string, turn: string) => void visited.push(turn) });
    const picture = screen.getByRole('group', { name: /The newest took 300/ });
    picture.focus();
    expect(screen.getByText('#9')).toBeVisible();
    await userEvent.keyboard('{ArrowLeft}');
    expect(screen.getByText('#8').parentElement).toHaveTextContent('Reported 200');
    await userEvent.keyboard('{Home}{ArrowLeft}{Enter}');
    expect(visited).toEqual(['t7']);
  });

  it('has its values one click away, the newest first', async () => {
    const { app } = await startedApp();
    const points = [point(7, { inputTokens: 100 }), point(8, { inputTokens: 200 })];
    mountIn(app, ChartCard, { chart: charts(series(points)).find(({ id }) => id === 'tokens')!, points, names: ['#7', '#8'], onvisit: () => undefined });
    await userEvent.click(screen.getByRole('button', { name: 'Numbers of Tokens per turn' }));
    const rows = within(screen.getByRole('table')).getAllByRole('row').map((row) => row.textContent);
    expect(rows[1]).toMatch(/^#8\s*200/);
    expect(rows[2]).toMatch(/^#7\s*100/);
    expect(rows[3]).toMatch(/^Median\s*100/);
    await userEvent.click(screen.getByRole('button', { name: 'Chart of Tokens per turn' }));
    expect(screen.queryByRole('table')).toBeNull();
  });
});

it('labels values that are formatted alike once', () => expect(withoutRepeats(['0 ms', '0 ms', '1 ms', '1 ms'])).toEqual(['0 ms', '', '1 ms', '']));

describe('Activity', () => {
  const panel = () => mountWith(ActivityPanel, (app) => ({ branchId: app.conversation.branchId, turnId: '', onjump: () => undefined, onvisit: () => undefined }));

  it('loads the metrics of the chosen scope', async () => {
    const { app, backend } = await panel();
    await screen.findByRole('article', { name: 'Time by part' });
    await userEvent.click(screen.getByRole('radio', { name: 'All' }));
    const lastRequest = () => backend.calls.filter((call) => call.name === 'search.metrics').at(-1)!.args[0];
    await waitFor(() => expect(lastRequest()).toEqual({ scope: 'all', sessionId: app.conversation.sessionId, branchId: app.conversation.branchId, limit: 0 }));
  });

  it('shows why there are no metrics', async () => {
    const { backend } = await mountWith(ActivityPanel, (app) => ({ branchId: app.conversation.branchId, turnId: '', onjump: () => undefined, onvisit: () => undefined }), {}, (fake) => fake.failNext('search.metrics', { message: 'The disk is full' }));
    expect(await screen.findByRole('alert')).toHaveTextContent('The disk is full');
    await userEvent.click(within(screen.getByRole('alert')).getByRole('button'));
    await screen.findByRole('article', { name: 'Time by part' });
    expect(backend.calls.filter((call) => call.name === 'search.metrics')).toHaveLength(2);
  });

  it('queues every failed job again', async () => {
    const { backend } = await panel();
    backend.store.jobs.push({ ...backend.store.jobs[2]!, id: 9 });
    backend.store.changed('jobs', '', '');
    await waitFor(() => expect(screen.getAllByText('Failed')).toHaveLength(2));
    await userEvent.click(screen.getByRole('button', { name: 'Retry all failed' }));
    await waitFor(() => expect(backend.calls.filter((call) => call.name === 'inspect.retryJob').map((call) => call.args[0])).toEqual([3, 9]));
    await waitFor(() => expect(screen.queryByRole('button', { name: 'Retry all failed' })).toBeNull());
  });
});
