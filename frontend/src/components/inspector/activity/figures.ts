/** The figures of SRD 15.1 as charts: what is drawn, what the table behind holds, and what is read out. Pure. */
import type { MetricPoint, MetricsSeries } from '$lib/backend/types';
import { counted, grouped, spanned } from '$shared/format';

/** One thing over the turns. Null: that turn has none. */
export interface Series {
  name: string;
  /** Colour token, without "--color-". */
  colour: string;
  values: (number | null)[];
  /** How it is drawn; a range fills up to the next series. */
  as: 'bars' | 'line' | 'dashes' | 'range';
}

export interface Chart {
  id: string;
  title: string;
  /** The one number beside the title. */
  figure: string;
  /** What a screen reader hears in place of the picture, with the figures. */
  spoken: string;
  series: Series[];
  /** The series add up to one bar a turn. */
  stacked: boolean;
  format: (value: number) => string;
  /** Upper end of the scale; 0: what the values need. */
  top: number;
}

const dash = '–';

/** The value that a share of all values does not exceed; 0 for none. */
export function quantile(values: readonly number[], share: number): number {
  if (values.length === 0) return 0;
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))]!;
}

export const percent = (share: number): string => `${Math.round(share * 100)}\u202f%`;
export const valueOf = (chart: Chart, value: number | null | undefined): string => (value === null || value === undefined ? dash : chart.format(value));

export function charts(series: MetricsSeries): Chart[] {
  const { points } = series;
  if (points.length === 0) return [];
  return [timeByPart(points), tokensATurn(points), cacheShare(series), similarity(points), costATurn(series)].filter((chart) => chart !== null);
}

const parts: { name: string; colour: string; of: (point: MetricPoint) => number }[] = [
  { name: 'Search', colour: 'section-retrieved', of: ({ turn }) => turn.searchMs },
  { name: 'Assemble', colour: 'section-tools', of: ({ turn }) => turn.assembleMs },
  { name: 'First byte', colour: 'section-state', of: ({ turn }) => turn.firstByteMs },
  { name: 'Stream', colour: 'section-originals', of: ({ turn }) => turn.streamMs },
  { name: 'Summarise', colour: 'section-summaries', of: ({ turn }) => turn.summarizeMs },
  { name: 'Index', colour: 'section-pinned', of: ({ turn }) => turn.indexMs },
];

function timeByPart(points: readonly MetricPoint[]): Chart {
  const whole = points.map((point) => parts.reduce((sum, part) => sum + part.of(point), 0));
  const timed = whole.filter((ms) => ms > 0); // a turn that a crash cut off has no times
  const median = quantile(timed, 0.5);
  const each = parts.map((part) => `${part.name} ${spanned(quantile(points.map(part.of), 0.5))}`).join(', ');
  return {
    id: 'time', title: 'Time by part', figure: `median ${spanned(median)}`, stacked: true, format: spanned, top: 0,
    spoken: `Time of ${counted(points.length, 'turn')} by part. Half of them took at most ${spanned(median)}, 95 of 100 at most ${spanned(quantile(timed, 0.95))}. Medians: ${each}.`,
    series: parts.map(({ name, colour, of }) => ({ name, colour, values: points.map(of), as: 'bars' })),
  };
}

function tokensATurn(points: readonly MetricPoint[]): Chart {
  const off = points.filter(({ turn }) => turn.inputTokens > 0 && turn.estimateTokens > 0).map(({ turn }) => Math.abs(turn.estimateTokens - turn.inputTokens) / turn.inputTokens);
  const last = points.at(-1)!.turn;
  const apart = off.length > 0 ? ` The count made before sending was off by ${percent(quantile(off, 0.5))} in the median.` : '';
  return {
    id: 'tokens', title: 'Tokens per turn', figure: grouped(last.inputTokens), stacked: false, format: grouped, top: 0,
    spoken: `Input tokens of ${counted(points.length, 'turn')}. The newest took ${grouped(last.inputTokens)}, the largest ${grouped(Math.max(...points.map(({ turn }) => turn.inputTokens)))}.${apart}`,
    series: [
      { name: 'Reported', colour: 'section-originals', values: points.map(({ turn }) => turn.inputTokens || null), as: 'bars' },
      { name: 'Estimated', colour: 'text', values: points.map(({ turn }) => turn.estimateTokens || null), as: 'dashes' },
    ],
  };
}

function cacheShare({ points, inputTokens, cachedTokens }: MetricsSeries): Chart {
  const share = inputTokens > 0 ? cachedTokens / inputTokens : 0;
  return {
    id: 'cache', title: 'Cache share', figure: percent(share), stacked: false, format: percent, top: 1,
    spoken: `${percent(share)} of ${grouped(inputTokens)} input tokens came from the providers’ caches, over ${counted(points.length, 'turn')}.`,
    series: [{ name: 'From the cache', colour: 'section-originals', values: points.map(({ turn }) => (turn.inputTokens > 0 ? turn.cachedTokens / turn.inputTokens : null)), as: 'line' }],
  };
}

/** Null where vectors found nothing in any of the turns: words alone have no similarity. */
function similarity(points: readonly MetricPoint[]): Chart | null {
  const found = points.filter(({ turn }) => turn.similarityMax > 0);
  if (found.length === 0) return null;
  const two = (value: number) => value.toFixed(2);
  const low = two(Math.min(...found.map(({ turn }) => turn.similarityMin)));
  const high = two(Math.max(...found.map(({ turn }) => turn.similarityMax)));
  const values = (of: (point: MetricPoint) => number) => points.map((point) => (point.turn.similarityMax > 0 ? of(point) : null));
  return {
    id: 'memory', title: 'Similarity of memory', figure: `${low} to ${high}`, stacked: false, format: two, top: 1,
    spoken: `What memory brought into ${counted(found.length, 'turn')} of ${grouped(points.length)} was between ${low} and ${high} similar to the message.`,
    series: [
      { name: 'Most similar', colour: 'section-retrieved', values: values(({ turn }) => turn.similarityMax), as: 'range' },
      { name: 'Least similar', colour: 'section-retrieved', values: values(({ turn }) => turn.similarityMin), as: 'dashes' },
    ],
  };
}

/** Null where no model of these turns has a price. */
function costATurn({ points, cost, unpriced }: MetricsSeries): Chart | null {
  if (cost === '') return null;
  const money = (value: number) => value.toFixed(value >= 1 ? 2 : 4);
  const without = unpriced > 0 ? ` ${counted(unpriced, 'turn')} of models without a price ${unpriced === 1 ? 'is' : 'are'} not in it.` : '';
  return {
    id: 'cost', title: 'Cost', figure: `${cost}${unpriced > 0 ? ` without ${counted(unpriced, 'turn')}` : ''}`, stacked: false, format: money, top: 0,
    spoken: `${counted(points.length - unpriced, 'turn')} cost ${cost} together, at the prices configured.${without}`,
    series: [{ name: 'Cost', colour: 'section-pinned', values: points.map((point) => (point.cost >= 0 ? point.cost : null)), as: 'bars' }],
  };
}
