import { spawnSync } from 'node:child_process';
import { until } from '../harness/process.ts';
import { type FakeShell, reports } from './fakeshell.ts';
import { waitForWindow, type Desktop } from './desktop.ts';

export interface Point {
  x: number;
  y: number;
}

/** The position of fakeshell.py's small window, in a corner of the screen that the program's window does not cover. */
const corner = { x: 1300, y: 20 };
const cornerPoint = { x: corner.x + 60, y: corner.y + 40 };

export const xdotool = (...args: (string | number)[]) => spawnSync('xdotool', args.map(String), { encoding: 'utf8' }).stdout;

/** The screen position of a point in the page. */
export async function onScreen(desktop: Desktop, { x, y }: Point): Promise<Point> {
  const window = await waitForWindow(desktop.pid);
  // Unlike xdotool, xwininfo accounts for the window manager's frame.
  const info = spawnSync('xwininfo', ['-id', window], { encoding: 'utf8' }).stdout;
  const offset = (axis: string) => Number(new RegExp(`Absolute upper-left ${axis}: +(-?\\d+)`).exec(info)?.[1]);
  return { x: offset('X') + x, y: offset('Y') + y };
}

/** Waits until the element is drawn. Returns its middle, or another point in fractions of its width and height. */
export function middle(desktop: Desktop, css: string, fractionX = 0.5, fractionY = 0.5): Promise<Point> {
  const script = `const box = document.querySelector(arguments[0])?.getBoundingClientRect();
    return box && box.width > 0 ? { x: Math.round(box.x + box.width * arguments[1]), y: Math.round(box.y + box.height * arguments[2]) } : null`;
  return until(`${css} is drawn`, () => desktop.page.run<Point | null>(script, css, fractionX, fractionY));
}

/**
 * Drags with the real pointer, in steps, because toolkits recognize only that as a drag. Presses the button, runs
 * `beforeMove`, moves, and holds the button until `hasResponded` returns true for the target. If there is a `last`
 * point, the pointer moves there and the button is released at the same moment.
 */
async function dragPointer(from: Point, to: Point, hasResponded: () => boolean | Promise<boolean>, beforeMove: () => Promise<unknown> = async () => {}, last?: Point): Promise<void> {
  const step = (x: number, y: number) => xdotool('mousemove', Math.round(x), Math.round(y));
  step(from.x - 1, from.y);
  step(from.x, from.y);
  xdotool('mousedown', 1);
  try {
    await beforeMove();
    for (let i = 1; i <= 20; i++) step(from.x + ((to.x - from.x) * i) / 20, from.y + ((to.y - from.y) * i) / 20);
    let moves = 0;
    await until('the drag target responds', async () => {
      // Sometimes moves away and back, so that the target is entered again if it could not respond the first time.
      const away = ++moves % 20 === 0 ? 150 : 0;
      step(to.x + (moves % 3) + away, to.y + away);
      if (away) step(to.x, to.y);
      return hasResponded();
    });
  } finally {
    xdotool(...(last ? ['mousemove', last.x, last.y] : []), 'mouseup', 1);
  }
}

/**
 * Counts dragover events near a point of the page. The returned function reports whether there were three: by the third
 * one, the drag source has received the page's response to the first.
 */
async function trackHover(desktop: Desktop, point: Point): Promise<() => Promise<boolean>> {
  await desktop.page.run(
    `if (!window.hovered) addEventListener('dragover', ({ clientX, clientY }) => {
       if (Math.hypot(clientX - window.hovered.x, clientY - window.hovered.y) < 8) window.hovered.times++;
     }, true);
     window.hovered = { ...arguments[0], times: 0 };`,
    point,
  );
  return () => desktop.page.run<boolean>('return window.hovered.times >= 3');
}

/** Drags data from another program's window onto a point of the page. */
export function dragIn(shell: FakeShell, desktop: Desktop, target: Point, kind: 'uris' | 'text', ...data: string[]): Promise<{ accepted: boolean }> {
  return dragAcross(shell, desktop, target, undefined, kind, ...data);
}

/** Like dragIn, but drops the data at `last`, at the moment when the pointer gets there. */
export async function dragAcross(shell: FakeShell, desktop: Desktop, target: Point, last: Point | undefined, kind: 'uris' | 'text', ...data: string[]): Promise<{ accepted: boolean }> {
  const source = await shell.start('source', String(corner.x), String(corner.y), kind, ...data);
  const isOver = await trackHover(desktop, target);
  await dragPointer(cornerPoint, await onScreen(desktop, target), isOver, undefined, last && (await onScreen(desktop, last)));
  await until('the drag ends', () => reports(source).some((line) => line.ended));
  const accepted = reports(source).every((line) => line.failed === undefined);
  await source.crash();
  return { accepted };
}

/** Drags from a point of the page to a file manager's window; returns the paths of the files that it received. */
export async function dragOut(shell: FakeShell, desktop: Desktop, from: Point, folder: string, beforeMove: () => Promise<unknown>): Promise<string[]> {
  const target = await shell.start('target', String(corner.x), String(corner.y), folder);
  await dragPointer(await onScreen(desktop, from), cornerPoint, () => reports(target).filter((line) => line.over).length >= 3, beforeMove);
  await until('the files arrive', () => reports(target).some((line) => line.dropped));
  const files = reports(target).filter((line) => line.dropped).map((line) => line.dropped as string);
  await target.crash();
  return files;
}

/** Drags within the page. */
export async function dragWithin(desktop: Desktop, from: Point, to: Point, beforeMove?: () => Promise<unknown>): Promise<void> {
  const isOver = await trackHover(desktop, to);
  await dragPointer(await onScreen(desktop, from), await onScreen(desktop, to), isOver, beforeMove);
}

/** Presses at a point of the page, moves and releases, which pans a view instead of dragging data. */
export async function pan(desktop: Desktop, from: Point, to: Point, hasResponded: () => Promise<boolean>): Promise<void> {
  await dragPointer(await onScreen(desktop, from), await onScreen(desktop, to), hasResponded);
}
