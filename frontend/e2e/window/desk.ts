import { spawnSync } from 'node:child_process';
import type { Home } from '../harness/home.ts';
import { Child, repository, until } from '../harness/process.ts';

const script = `${repository}frontend/e2e/window/desk.py`;
// The system's Python has GTK's bindings; another one may not.
const python = '/usr/bin/python3';

export interface TrayItem {
  title: string;
  tooltip: string;
  width: number;
  icon: string;
  blank: boolean;
  menu: { label: string; enabled: boolean; checked: boolean }[];
}

/**
 * The programs around the window: a panel, a notification server, windows to drag from and to. desk.py implements them.
 */
export class Desk {
  private readonly played: Child[] = [];

  constructor(private readonly home: Home) {}

  /** Starts a role of desk.py, and waits until it is ready. */
  async play(...args: string[]): Promise<Child> {
    const child = new Child(python, [script, ...args], this.home.env(), this.home.root, 'pipe');
    this.played.push(child);
    await until(`the ${args[0]}`, () => {
      if (!child.running) throw new Error(child.output);
      return child.output.includes('"ready"');
    });
    return child;
  }

  /** The program's tray icon. */
  item(): TrayItem {
    return JSON.parse(this.ask('item')) as TrayItem;
  }

  click(label: string): void {
    this.ask('click', label);
  }

  tap(): void {
    this.ask('tap');
  }

  /** The text in the clipboard. */
  pasted(): string {
    return (JSON.parse(this.ask('pasted')) as { text: string }).text;
  }

  /** The number of red pixels in a part of the screen. */
  red({ x, y, width, height }: { x: number; y: number; width: number; height: number }): number {
    return (JSON.parse(this.ask('red', ...[x, y, width, height].map(String))) as { red: number }).red;
  }

  async clear(): Promise<void> {
    for (const child of this.played) if (child.running) await child.crash();
  }

  private ask(...args: string[]): string {
    const { status, stdout, stderr } = spawnSync(python, [script, ...args], { env: this.home.env(), encoding: 'utf8', timeout: 60_000 });
    if (status !== 0) throw new Error(`desk.py ${args.join(' ')}: ${stderr}`);
    return stdout;
  }
}

/** The output of a role: one document per line. */
export function reports(child: Child): Record<string, any>[] {
  return child.output.split('\n').filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as Record<string, any>);
}
