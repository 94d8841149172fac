/** The visible window onto a layout: its offset and scale. */
import type { Box } from './layout';

export interface Size {
  width: number;
  height: number;
}

/** A point of the layout is at point * scale + (x, y) on the screen. */
export interface View {
  x: number;
  y: number;
  scale: number;
}

export const scaleMin = 0.02;
export const scaleMax = 4;
/** Margin around what is fitted or brought into view. */
const edge = 16;

const clamp = (value: number, low: number, high: number): number => Math.min(Math.max(value, low), high);

/** Zooms while the given point keeps its position. */
export function zoomAt(view: View, factor: number, x: number, y: number): View {
  const scale = clamp(view.scale * factor, scaleMin, scaleMax);
  const ratio = scale / view.scale;
  return { scale, x: x - (x - view.x) * ratio, y: y - (y - view.y) * ratio };
}

/** Fits everything, at most at scale `most`. */
export function fit(all: Size, size: Size, most = 1): View {
  const scale = clamp(Math.min((size.width - 2 * edge) / all.width, (size.height - 2 * edge) / all.height), scaleMin, most);
  return within({ scale, x: (size.width - all.width * scale) / 2, y: edge }, all, size);
}

/** The smallest movement that makes a box fully visible; a box larger than the window shows its beginning. */
export function reveal(view: View, box: Box, size: Size): View {
  const along = (at: number, from: number, length: number, space: number) => {
    const [low, high] = [edge - from, space - edge - (from + length)];
    return high < low ? low : clamp(at, low, high);
  };
  return { ...view, x: along(view.x, box.x * view.scale, box.w * view.scale, size.width), y: along(view.y, box.y * view.scale, box.h * view.scale, size.height) };
}

export function centre(view: View, box: Box, size: Size): View {
  return { ...view, x: size.width / 2 - (box.x + box.w / 2) * view.scale, y: size.height / 2 - (box.y + box.h / 2) * view.scale };
}

/** The boxes that a map in the lower right or left corner covers. */
export function covers<T extends Box>(boxes: readonly T[], view: View, size: Size, map: Size, left: boolean): T[] {
  const [from, to] = left ? [0, map.width + edge] : [size.width - map.width - edge, size.width];
  const top = size.height - map.height - edge;
  const seen = (at: T) => (at.x + at.w) * view.scale + view.x > from && at.x * view.scale + view.x < to && (at.y + at.h) * view.scale + view.y > top && at.y * view.scale + view.y < size.height;
  return boxes.filter(seen);
}

/**
 * Limits the position so that the edges of a larger layout stay at those of the window, and a smaller one stays inside.
 */
export function within(view: View, all: Size, size: Size): View {
  const along = (at: number, length: number, space: number) => {
    const spare = space - length;
    return spare >= 2 * edge ? clamp(at, edge, spare - edge) : clamp(at, spare - edge, edge);
  };
  return { ...view, x: along(view.x, all.width * view.scale, size.width), y: along(view.y, all.height * view.scale, size.height) };
}

/** The visible part of the layout, and a little more. */
export function seen(view: View, size: Size, margin = 120): Box {
  return { x: (-view.x - margin) / view.scale, y: (-view.y - margin) / view.scale, w: (size.width + 2 * margin) / view.scale, h: (size.height + 2 * margin) / view.scale };
}

export const touches = (a: Box, b: Box): boolean => a.x <= b.x + b.w && b.x <= a.x + a.w && a.y <= b.y + b.h && b.y <= a.y + a.h;
