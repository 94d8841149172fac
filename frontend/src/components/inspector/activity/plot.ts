/** Draws a chart with uPlot, in the theme's colours. In a separate chunk, which is loaded only for charts. */
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { Chart, Series } from './metrics';

export interface Plot {
  /** Moves the cursor to a turn by its index; negative removes it. */
  point: (at: number) => void;
  destroy: () => void;
}

/** Height in rem. */
const height = 7;

/** The upper end of each series: stacked ones add to those before them. */
export function tops(chart: Chart): (number | null)[][] {
  if (!chart.stacked) return chart.series.map((series) => series.values);
  const sums = chart.series[0]!.values.map(() => 0);
  return chart.series.map((series) => series.values.map((value, i) => (sums[i]! += value ?? 0)));
}

/** Draws into `box` as soon as it has a width, and redraws at each change. */
export function plot(box: HTMLElement, chart: Chart, labels: readonly string[], onpoint: (at: number) => void): Plot {
  let drawn: uPlot | undefined;
  const observer = new ResizeObserver(([entry]) => {
    const width = Math.floor(entry?.contentRect.width ?? 0);
    if (width === 0) return;
    const size = { width, height: height * rem() };
    if (drawn) drawn.setSize(size);
    else drawn = new uPlot({ ...options(box, chart, labels, onpoint), ...size }, data(chart), box);
  });
  observer.observe(box);
  return {
    point: (at) => drawn?.setCursor(at < 0 ? { left: -10, top: -10 } : { left: Math.round(drawn.valToPos(at, 'x')), top: 0 }),
    destroy: () => {
      observer.disconnect();
      drawn?.destroy();
    },
  };
}

const rem = () => parseFloat(getComputedStyle(document.documentElement).fontSize);

/** Stacked series are drawn from the highest down, each over the previous one. */
function data(chart: Chart): uPlot.AlignedData {
  const lines = tops(chart);
  return [chart.series[0]!.values.map((_, i) => i), ...(chart.stacked ? lines.reverse() : lines)];
}

/** Labels of an axis. Small values that are formatted alike are labelled once. */
export const withoutRepeats = (labels: readonly string[]): string[] => labels.map((label, i) => (label === labels[i - 1] ? '' : label));

function options(box: HTMLElement, chart: Chart, labels: readonly string[], onpoint: (at: number) => void): Omit<uPlot.Options, 'width' | 'height'> {
  const style = getComputedStyle(box);
  const token = (name: string) => style.getPropertyValue(`--color-${name}`).trim();
  const font = `${0.6875 * rem()}px ${style.getPropertyValue('--font-sans')}`;
  const axis = { stroke: token('text-subtle'), font, ticks: { show: false }, grid: { stroke: token('line'), width: 1 } };
  const series = chart.stacked ? [...chart.series].reverse() : chart.series;
  const range = series.findIndex((entry) => entry.as === 'range') + 1;
  return {
    legend: { show: false },
    padding: [0.5 * rem(), 0, 0, 0],
    cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
    scales: { x: { time: false, range: (_, min, max) => [min - 0.5, max + 0.5] }, y: { range: (_, __, max) => [0, chart.top || Math.max(max, 1e-4) * 1.05] } },
    axes: [
      { ...axis, grid: { show: false }, size: 1.5 * rem(), gap: 0.375 * rem(), values: (_, at) => at.map((i) => (Number.isInteger(i) ? (labels[i] ?? '') : '')), space: 3 * rem() },
      { ...axis, size: 3.5 * rem(), values: (_, at) => withoutRepeats(at.map((value) => chart.format(value))), space: 2 * rem() },
    ],
    series: [{}, ...series.map((entry) => drawing(entry, token))],
    bands: range > 0 ? [{ series: [range, range + 1], fill: soft(token(series[range - 1]!.colour)) }] : [],
    hooks: { setCursor: [(self) => onpoint(self.cursor.idx ?? -1)] },
  };
}

function drawing(series: Series, token: (name: string) => string): uPlot.Series {
  const colour = token(series.colour);
  // Many bars are drawn without gaps, which would take too much width.
  const share = series.values.length > 60 ? 1 : 0.75;
  if (series.as === 'bars') return { fill: colour, width: 0, points: { show: false }, paths: uPlot.paths.bars!({ size: [share, 40] }) };
  return { stroke: colour, width: 1.5, dash: series.as === 'dashes' ? [4, 3] : [], points: { show: series.values.length <= 30, size: 4, fill: colour } };
}

/** The same colour with a quarter of its opacity. */
const soft = (colour: string) => `color-mix(in srgb, ${colour} 25%, transparent)`;
