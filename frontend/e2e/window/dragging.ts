import { spawnSync } from 'node:child_process';
import { until } from '../harness/process.ts';
import { reports, type Desk } from './desk.ts';
import { waitForWindow, type Desktop } from './desktop.ts';

export interface Point {
  x: number;
  y: number;
}

/** The position of desk.py's small window, in a corner of the screen that the program's window leaves free. */
const corner = { x: 1300, y: 20 };
const inCorner = { x: corner.x + 60, y: corner.y + 40 };

export const xdotool = (...args: (string | number)[]) => spawnSync('xdotool', args.map(String), { encoding: 'utf8' }).stdout;

/** The position on the screen of a point in the page. */
export async function onScreen(desktop: Desktop, { x, y }: Point): Promise<Point> {
  const window = await waitForWindow(desktop.pid);
  // Unlike xdotool, xwininfo accounts for the window manager's frame.
  const place = spawnSync('xwininfo', ['-id', window], { encoding: 'utf8' }).stdout;
  const at = (axis: string) => Number(new RegExp(`Absolute upper-left ${axis}: +(-?\\d+)`).exec(place)?.[1]);
  return { x: at('X') + x, y: at('Y') + y };
}

/** The middle of the element for the selector, or another point in it, in fractions of its width and height. */
export function middle(desktop: Desktop, css: string, partX = 0.5, partY = 0.5): Promise<Point> {
  const script = `const box = document.querySelector(arguments[0])?.getBoundingClientRect();
    return box && box.width > 0 ? { x: Math.round(box.x + box.width * arguments[1]), y: Math.round(box.y + box.height * arguments[2]) } : null`;
  return until(`${css} is drawn`, () => desktop.page.run<Point | null>(script, css, partX, partY));
}

/**
 * Drags with the real pointer, in steps, because toolkits recognise a drag only then. The button stays down at the
 * start until `held`, and at the end until `seen`, so that the target has responded. If there is a `last` point, it is
 * released there in the same moment.
 */
async function dragPointer(from: Point, to: Point, seen: () => boolean | Promise<boolean>, held: () => Promise<unknown> = async () => {}, last?: Point): Promise<void> {
  const step = (x: number, y: number) => xdotool('mousemove', Math.round(x), Math.round(y));
  step(from.x - 1, from.y);
  step(from.x, from.y);
  xdotool('mousedown', 1);
  try {
    await held();
    for (let i = 1; i <= 20; i++) step(from.x + ((to.x - from.x) * i) / 20, from.y + ((to.y - from.y) * i) / 20);
    let trembling = 0;
    await until('the target sees the drag', async () => {
      // Sometimes moves away and back, so that the target is asked again if it could not respond the first time.
      const away = ++trembling % 20 === 0 ? 150 : 0;
      step(to.x + (trembling % 3) + away, to.y + away);
      if (away) step(to.x, to.y);
      return seen();
    });
  } finally {
    xdotool(...(last ? ['mousemove', last.x, last.y] : []), 'mouseup', 1);
  }
}

/**
 * Counts dragover events near a point of the page. The third one means that the page's response to the first was
 * received.
 */
async function hovered(desktop: Desktop, at: Point): Promise<() => Promise<boolean>> {
  await desktop.page.run(
    `if (!window.hovered) addEventListener('dragover', ({ clientX, clientY }) => {
       if (Math.hypot(clientX - window.hovered.x, clientY - window.hovered.y) < 8) window.hovered.times++;
     }, true);
     window.hovered = { ...arguments[0], times: 0 };`,
    at,
  );
  return () => desktop.page.run<boolean>('return window.hovered.times >= 3');
}

/** Drags data from another program's window onto a point of the page. */
export function dragIn(desk: Desk, desktop: Desktop, at: Point, kind: 'uris' | 'text', ...data: string[]): Promise<{ taken: boolean }> {
  return dragAcross(desk, desktop, at, undefined, kind, ...data);
}

/** Like dragIn, but the data is released at `last`, in the moment in which the pointer gets there. */
export async function dragAcross(desk: Desk, desktop: Desktop, at: Point, last: Point | undefined, kind: 'uris' | 'text', ...data: string[]): Promise<{ taken: boolean }> {
  const source = await desk.play('source', String(corner.x), String(corner.y), kind, ...data);
  const over = await hovered(desktop, at);
  await dragPointer(inCorner, await onScreen(desktop, at), over, undefined, last && (await onScreen(desktop, last)));
  await until('the drag is over', () => reports(source).some((line) => line.ended));
  const taken = reports(source).every((line) => line.failed === undefined);
  await source.crash();
  return { taken };
}

/** Drags from a point of the page to a file manager's window; returns the files it received. */
export async function dragOut(desk: Desk, desktop: Desktop, from: Point, folder: string, held: () => Promise<unknown>): Promise<string[]> {
  const target = await desk.play('target', String(corner.x), String(corner.y), folder);
  await dragPointer(await onScreen(desktop, from), inCorner, () => reports(target).filter((line) => line.over).length >= 3, held);
  await until('the files arrive', () => reports(target).some((line) => line.dropped));
  const files = reports(target).filter((line) => line.dropped).map((line) => line.dropped as string);
  await target.crash();
  return files;
}

/** Drags within the page. */
export async function dragWithin(desktop: Desktop, from: Point, to: Point, held?: () => Promise<unknown>): Promise<void> {
  const over = await hovered(desktop, to);
  await dragPointer(await onScreen(desktop, from), await onScreen(desktop, to), over, held);
}

/** Presses at a point of the page, moves and releases: this moves a view instead of dragging data. */
export async function pull(desktop: Desktop, from: Point, to: Point, seen: () => Promise<boolean>): Promise<void> {
  await dragPointer(await onScreen(desktop, from), await onScreen(desktop, to), seen);
}
