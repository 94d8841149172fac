import { spawnSync } from 'node:child_process';
import type { Home } from '../harness/home.ts';
import { Child, repository, until } from '../harness/process.ts';

const script = `${repository}frontend/e2e/window/fakeshell.py`;
// The system's Python has GTK's bindings; another Python may not.
const python = '/usr/bin/python3';

/** The tray icon and its menu. */
export interface TrayItem {
  title: string;
  tooltip: string;
  width: number;
  icon: string;
  blank: boolean;
  menu: { label: string; enabled: boolean; checked: boolean }[];
}

/**
 * A fake desktop shell: a panel, a notification server, owners of the clipboard, and windows to drag from and to.
 * fakeshell.py implements them.
 */
export class FakeShell {
  private readonly children: Child[] = [];

  constructor(private readonly home: Home) {}

  /** Starts a role of fakeshell.py, and waits until it is ready. */
  async start(...args: string[]): Promise<Child> {
    const child = new Child(python, [script, ...args], this.home.env(), this.home.root, 'pipe');
    this.children.push(child);
    await until(`the ${args[0]}`, () => {
      if (!child.running) throw new Error(child.output);
      return child.output.includes('"ready"');
    });
    return child;
  }

  /** The program's tray icon. */
  item(): TrayItem {
    return JSON.parse(this.query('item')) as TrayItem;
  }

  /** Clicks an item of the tray menu. */
  click(label: string): void {
    this.query('click', label);
  }

  /** Clicks the tray icon. */
  activate(): void {
    this.query('activate');
  }

  /** The text in the clipboard. */
  clipboardText(): string {
    return (JSON.parse(this.query('clipboard')) as { text: string }).text;
  }

  /** The number of red pixels in a part of the screen. */
  countRed({ x, y, width, height }: { x: number; y: number; width: number; height: number }): number {
    return (JSON.parse(this.query('red', ...[x, y, width, height].map(String))) as { red: number }).red;
  }

  async stop(): Promise<void> {
    for (const child of this.children) if (child.running) await child.crash();
  }

  private query(...args: string[]): string {
    const { status, stdout, stderr } = spawnSync(python, [script, ...args], { env: this.home.env(), encoding: 'utf8', timeout: 60_000 });
    if (status !== 0) throw new Error(`fakeshell.py ${args.join(' ')}: ${stderr}`);
    return stdout;
  }
}

/** The events that a role has reported: one JSON document per line. */
export function reports(child: Child): Record<string, any>[] {
  return child.output.split('\n').filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as Record<string, any>);
}
