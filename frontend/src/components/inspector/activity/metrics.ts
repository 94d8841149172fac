/** The metrics of SRD 15.1 as charts: what is drawn, the table, and the description for screen readers. Pure. */
import type { MetricPoint, MetricsSeries, TurnMetrics } from '$lib/backend/types';
import { t, type PlainKey } from '$lib/i18n/i18n.svelte';
import { formatDecimal, formatDollars, formatCount, joinFacts, formatPercent, formatDuration } from '$shared/format';

/** One series over the turns. Null: no value for that turn. */
export interface Series {
  name: string;
  /** Colour token, without "--color-". */
  colour: string;
  values: (number | null)[];
  /** How it is drawn; a range fills the area up to the next series. */
  as: 'bars' | 'line' | 'dashes' | 'range';
}

export interface Chart {
  id: string;
  title: string;
  /** The number beside the title. */
  figure: string;
  /** The description for screen readers, with the values. */
  spoken: string;
  series: Series[];
  /** The series are stacked to one bar per turn. */
  stacked: boolean;
  format: (value: number) => string;
  /** The unit, shown once in the heading of the table, whose cells then contain only numbers. */
  unit?: string;
  /** Upper end of the scale; 0: determined by the values. */
  top: number;
}

const dash = '–';

/** The time of the streams after the first byte: streamMs begins with the request, as firstByteMs does. */
export const afterFirstByte = ({ streamMs, firstByteMs }: Pick<TurnMetrics, 'streamMs' | 'firstByteMs'>): number => Math.max(0, streamMs - firstByteMs);

/** The quantile of the values; 0 for none. */
export function quantile(values: readonly number[], share: number): number {
  if (values.length === 0) return 0;
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))]!;
}

export const percent = (share: number): string => formatPercent(Math.round(share * 100));
const isKnown = (value: number | null | undefined): value is number => value !== null && value !== undefined;
/** A value in the table. */
export const cellOf = (chart: Chart, value: number | null | undefined): string => (chart.unit && isKnown(value) ? formatCount(Math.round(value)) : valueOf(chart, value));
export const valueOf = (chart: Chart, value: number | null | undefined): string => (isKnown(value) ? chart.format(value) : dash);

export function charts(series: MetricsSeries): Chart[] {
  const { points } = series;
  if (points.length === 0) return [];
  return [timeByPart(points), tokensPerTurn(points), cacheShare(series), similarity(points), costPerTurn(series)].filter((chart) => chart !== null);
}

const parts: { name: PlainKey; colour: string; ms: (point: MetricPoint) => number }[] = [
  { name: 'inspector.search', colour: 'section-retrieved', ms: ({ turn }) => turn.searchMs },
  { name: 'inspector.assemble', colour: 'section-tools', ms: ({ turn }) => turn.assembleMs },
  { name: 'inspector.firstByte', colour: 'section-state', ms: ({ turn }) => turn.firstByteMs },
  { name: 'inspector.stream', colour: 'section-originals', ms: ({ turn }) => afterFirstByte(turn) },
  { name: 'inspector.summarize', colour: 'section-summaries', ms: ({ turn }) => turn.summarizeMs },
  { name: 'inspector.index', colour: 'section-pinned', ms: ({ turn }) => turn.indexMs },
];

function timeByPart(points: readonly MetricPoint[]): Chart {
  const totals = points.map((point) => parts.reduce((sum, part) => sum + part.ms(point), 0));
  const timed = totals.filter((ms) => ms > 0); // a turn interrupted by a crash has no times
  const median = quantile(timed, 0.5);
  const each = joinFacts(parts.map((part) => `${t(part.name)} ${formatDuration(quantile(points.map(part.ms), 0.5))}`));
  return {
    id: 'time', title: t('inspector.timeByPart'), figure: t('inspector.medianIs', { time: formatDuration(median) }), stacked: true, format: formatDuration, unit: 'ms', top: 0,
    spoken: t('inspector.timeSpoken', { count: points.length, median: formatDuration(median), most: formatDuration(quantile(timed, 0.95)), each }),
    series: parts.map(({ name, colour, ms }) => ({ name: t(name), colour, values: points.map(ms), as: 'bars' })),
  };
}

function tokensPerTurn(points: readonly MetricPoint[]): Chart {
  const deviations = points.filter(({ turn }) => turn.inputTokens > 0 && turn.estimateTokens > 0).map(({ turn }) => Math.abs(turn.estimateTokens - turn.inputTokens) / turn.inputTokens);
  const last = points.at(-1)!.turn;
  const deviation = deviations.length > 0 ? t('inspector.countApart', { share: percent(quantile(deviations, 0.5)) }) : '';
  return {
    id: 'tokens', title: t('inspector.tokensPerTurn'), figure: formatCount(last.inputTokens), stacked: false, format: formatCount, top: 0,
    spoken: [t('inspector.tokensSpoken', { count: points.length, newest: last.inputTokens, largest: Math.max(...points.map(({ turn }) => turn.inputTokens)) }), deviation].filter(Boolean).join(' '),
    series: [
      { name: t('inspector.reported'), colour: 'section-originals', values: points.map(({ turn }) => turn.inputTokens || null), as: 'bars' },
      { name: t('inspector.estimated'), colour: 'text', values: points.map(({ turn }) => turn.estimateTokens || null), as: 'dashes' },
    ],
  };
}

function cacheShare({ points, inputTokens, cachedTokens }: MetricsSeries): Chart {
  const share = inputTokens > 0 ? cachedTokens / inputTokens : 0;
  return {
    id: 'cache', title: t('inspector.cacheShare'), figure: percent(share), stacked: false, format: percent, top: 1,
    spoken: t('inspector.cacheSpoken', { share: percent(share), tokens: inputTokens, count: points.length }),
    series: [{ name: t('inspector.fromCache'), colour: 'section-originals', values: points.map(({ turn }) => (turn.inputTokens > 0 ? turn.cachedTokens / turn.inputTokens : null)), as: 'line' }],
  };
}

/** Null if vectors found nothing in any of the turns: keyword results have no similarity. */
function similarity(points: readonly MetricPoint[]): Chart | null {
  const found = points.filter(({ turn }) => turn.similarityMax > 0);
  if (found.length === 0) return null;
  const two = (value: number) => formatDecimal(value, { minimumFractionDigits: 2, maximumFractionDigits: 2 });
  const low = two(Math.min(...found.map(({ turn }) => turn.similarityMin)));
  const high = two(Math.max(...found.map(({ turn }) => turn.similarityMax)));
  const values = (similarityOf: (point: MetricPoint) => number) => points.map((point) => (point.turn.similarityMax > 0 ? similarityOf(point) : null));
  return {
    id: 'memory', title: t('inspector.similarity'), figure: t('inspector.between', { low, high }), stacked: false, format: two, top: 1,
    spoken: t('inspector.similaritySpoken', { count: found.length, all: points.length, low, high }),
    series: [
      { name: t('inspector.mostSimilar'), colour: 'section-retrieved', values: values(({ turn }) => turn.similarityMax), as: 'range' },
      { name: t('inspector.leastSimilar'), colour: 'section-retrieved', values: values(({ turn }) => turn.similarityMin), as: 'dashes' },
    ],
  };
}

/** Null if no model of these turns has a price. */
function costPerTurn({ points, cost, unpriced }: MetricsSeries): Chart | null {
  if (cost === null) return null;
  const total = formatDollars(cost);
  const without = unpriced > 0 ? t('inspector.withoutPrice', { count: unpriced }) : '';
  return {
    id: 'cost', title: t('inspector.cost'), figure: unpriced > 0 ? t('inspector.costWithout', { cost: total, count: unpriced }) : total, stacked: false, format: formatDollars, top: 0,
    spoken: [t('inspector.costSpoken', { count: points.length - unpriced, cost: total }), without].filter(Boolean).join(' '),
    series: [{ name: t('inspector.cost'), colour: 'section-pinned', values: points.map((point) => (point.cost >= 0 ? point.cost : null)), as: 'bars' }],
  };
}
