import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Home } from '../harness/home.ts';
import { Child, freePort, listeningPorts, repository, until } from '../harness/process.ts';
import { WebDriver } from './webdriver.ts';

const title = 'ContextInfinity';

/** The production program in a real window, driven through WebKitWebDriver. */
export class Desktop {
  private constructor(
    private readonly driver: Child,
    readonly page: WebDriver,
    /** The program's process, not the driver's. */
    readonly pid: number,
  ) {}

  static async start(home: Home, program: string, extraEnv: Record<string, string> = {}, args: readonly string[] = []): Promise<Desktop> {
    const port = await freePort();
    const driver = new Child('WebKitWebDriver', ['--host=127.0.0.1', `--port=${port}`], home.env(extraEnv), home.root);
    const address = `http://127.0.0.1:${port}`;
    await until('WebKitWebDriver starts', () => {
      if (!driver.running) throw new Error(`WebKitWebDriver ended: ${driver.output}`);
      // Another program may have taken the port since it was chosen, and the driver of another test would also respond.
      return listeningPorts(driver.pid).includes(port) && fetch(`${address}/status`).then((response) => response.ok, () => false);
    });
    const pidFile = join(home.root, 'pid');
    rmSync(pidFile, { force: true });
    try {
      const page = await WebDriver.open(address, launcher(home, program, pidFile, args));
      return new Desktop(driver, page, Number(readFileSync(pidFile, 'utf8')));
    } catch (error) {
      const pid = existsSync(pidFile) ? readFileSync(pidFile, 'utf8').trim() : 'never started';
      await driver.crash();
      throw new Error(`no window: ${error}\nprogram: ${pid}\n${driver.output}`);
    }
  }

  get running(): boolean {
    return existsSync(`/proc/${this.pid}`);
  }

  /** The messages that the page has written to its console. */
  get console(): string[] {
    return this.driver.output.split(/\n(?=CONSOLE )|^(?=CONSOLE )/).filter((message) => message.startsWith('CONSOLE '));
  }

  /** The window's id, or "" while the window is hidden. */
  get window(): string {
    return windowOf(this.pid);
  }

  /** Closes the window as its close button does, as soon as there is a window. Does not wait for the effect. */
  async pressClose(): Promise<void> {
    spawnSync('wmctrl', ['-i', '-c', await waitForWindow(this.pid)]);
  }

  /** Closes the window into the tray. */
  async hide(): Promise<void> {
    await this.pressClose();
    await until('the window is hidden', () => {
      if (!this.running) throw new Error('the program ended instead of hiding');
      return this.window === '';
    });
  }

  /** Waits until the program has ended. */
  async waitUntilEnded(): Promise<void> {
    await until('the program ends', () => !this.running);
    await this.endDriver();
  }

  /** Closes the window as its close button does. Returns whether the program then ended. */
  async close(): Promise<boolean> {
    await this.pressClose();
    const isEnded = await until('the program ends', () => !this.running).then(() => true, () => false);
    await this.endDriver();
    return isEnded;
  }

  /** Kills the program with SIGKILL. */
  async crash(): Promise<void> {
    process.kill(this.pid, 'SIGKILL');
    await until('the killed program has ended', () => !this.running);
    await this.endDriver();
  }

  /** Ends the program and its driver, at the end of a test that may have passed or failed. */
  async cleanUp(): Promise<void> {
    if (this.running) await this.crash();
    else await this.endDriver();
  }

  private async endDriver(): Promise<void> {
    await this.driver.crash();
    const problems = this.console.filter((message) => /^CONSOLE .*(ERROR|WARN)/.test(message));
    if (problems.length > 0) throw new Error(`the page's console reported:\n${problems.join('\n')}`);
  }
}

/** Waits until the window manager lists a window of the process, and returns the window's id. */
export function waitForWindow(pid: number): Promise<string> {
  return until(`a window of process ${pid}`, () => {
    if (!existsSync(`/proc/${pid}`)) throw new Error('the program ended before its window appeared');
    return windowOf(pid);
  });
}

/** The id of the process's window, or "" if there is none. */
export function windowOf(pid: number): string {
  // Before the first window exists, wmctrl has no list and fails.
  const list = spawnSync('wmctrl', ['-lp'], { encoding: 'utf8' });
  for (const line of list.stdout.split('\n')) {
    const [id, , owner, , ...name] = line.split(/\s+/);
    if (id !== undefined && Number(owner) === pid && name.join(' ').includes(title)) return id;
  }
  return '';
}

/**
 * Writes the script that the driver starts: it records the process id, preloads the library, and becomes the program.
 * The driver chooses the environment of its child, so the library cannot be set there.
 */
function launcher(home: Home, program: string, pidFile: string, args: readonly string[]): string {
  const file = join(home.root, 'launch');
  writeFileSync(file, `#!/bin/sh\necho $$ >'${pidFile}'\nLD_PRELOAD='${automationLibrary()}' exec '${program}' ${args.map((arg) => `'${arg}'`).join(' ')}\n`);
  chmodSync(file, 0o755);
  return file;
}

/** Compiles the preloaded library once per version of its source. */
function automationLibrary(): string {
  const source = join(repository, 'frontend/e2e/window/automation.c');
  const library = join(repository, '.tools/automation.so');
  const stamp = `${library}.source`;
  const text = readFileSync(source, 'utf8');
  if (existsSync(library) && existsSync(stamp) && readFileSync(stamp, 'utf8') === text) return library;
  const flags = execFileSync('pkg-config', ['--cflags', '--libs', 'webkit2gtk-4.1'], { encoding: 'utf8' }).trim().split(/\s+/);
  execFileSync('cc', ['-shared', '-fPIC', '-O1', '-Wall', '-o', `${library}.${process.pid}`, source, ...flags], { stdio: 'inherit' });
  renameSync(`${library}.${process.pid}`, library); // atomically, since another worker may be about to load it
  writeFileSync(stamp, text);
  return library;
}
