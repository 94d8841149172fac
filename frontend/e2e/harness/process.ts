import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';

export const repository = fileURLToPath(new URL('../../../', import.meta.url));

/** The path of a built program; if it does not exist, the error says how to build it. */
export function built(name: string): string {
  const path = `${repository}build/bin/${name}`;
  if (!existsSync(path)) throw new Error(`build/bin/${name} is not built: run make test, or scripts/build`);
  return path;
}

/** A child process in its own process group; collects its output. */
export class Child {
  readonly process: ChildProcess;
  readonly ended: Promise<void>;
  output = '';

  constructor(command: string, args: string[], env: Record<string, string>, cwd: string, input: 'ignore' | 'pipe' = 'ignore') {
    this.process = spawn(command, args, { env, cwd, detached: true, stdio: [input, 'pipe', 'pipe'] });
    this.process.stdout?.on('data', (data) => (this.output += data));
    this.process.stderr?.on('data', (data) => (this.output += data));
    this.ended = new Promise((resolve) => {
      this.process.once('exit', () => resolve());
      this.process.once('error', (error) => {
        this.output += String(error);
        resolve();
      });
    });
  }

  get pid(): number {
    return this.process.pid ?? 0;
  }

  get running(): boolean {
    return this.pid > 0 && this.process.exitCode === null && this.process.signalCode === null;
  }

  /** Kills the program with SIGKILL, as the kernel does when memory runs out; then the rest of its group. */
  async crash(): Promise<void> {
    this.process.kill('SIGKILL');
    await this.ended;
    this.killGroup();
  }

  /** Sends SIGTERM, as at logout. Returns false if the process had to be killed. */
  async stop(timeout = 60_000): Promise<boolean> {
    if (!this.running) return true;
    this.process.kill('SIGTERM');
    const isEnded = await within(timeout, this.ended);
    if (!isEnded) await this.crash();
    this.killGroup();
    return isEnded;
  }

  /** Kills the processes that the child started and left running. */
  private killGroup(): void {
    try {
      process.kill(-this.pid, 'SIGKILL');
    } catch {
      // The usual case: the group is empty.
    }
  }
}

/** Returns whether the promise resolves within that time. */
export async function within(ms: number, promise: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const timedOut = new Promise<boolean>((resolve) => (timer = setTimeout(() => resolve(false), ms)));
  const result = await Promise.race([promise.then(() => true), timedOut]);
  clearTimeout(timer);
  return result;
}

/** Polls until the check returns something truthy. The error contains the description of what the test waited for. */
export async function until<T>(description: string, check: () => T | Promise<T>, timeout = 90_000): Promise<NonNullable<T>> {
  const deadline = Date.now() + timeout;
  for (;;) {
    const value = await check();
    if (value) return value;
    if (Date.now() > deadline) throw new Error(`timed out after ${timeout / 1000} s while waiting for: ${description}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Waits until a card of a call takes keys and clicks: the program ignores them for half a second. */
export function untilCardDecides(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 600));
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return address.port;
}

/** The ports that a process listens on, found by the sockets it has open. */
export function listeningPorts(pid: number): number[] {
  const inodes = new Set(
    entries(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? [];
      } catch {
        return []; // closed in between
      }
    }),
  );
  return ['tcp', 'tcp6'].flatMap((table) =>
    readFileSync(`/proc/net/${table}`, 'utf8')
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(/\s+/))
      .filter((fields) => fields[3] === '0A' && inodes.has(fields[9] ?? '')) // 0A: listening
      .map((fields) => parseInt((fields[1] ?? '').split(':')[1] ?? '', 16)),
  );
}

/** The ids of a process and all its descendants. Each thread lists only the children that it started. */
export function processTree(pid: number): number[] {
  const children = (thread: string): number[] => {
    try {
      return readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').trim().split(/\s+/).filter(Boolean).map(Number);
    } catch {
      return []; // ended in between
    }
  };
  return [pid, ...entries(`/proc/${pid}/task`).flatMap(children).flatMap(processTree)];
}

/** The ids of the processes that have this home directory in their environment. */
export function processesWithHome(home: string): number[] {
  return entries('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(`HOME=${home}`);
      } catch {
        return false; // ended, or another user's
      }
    });
}

function entries(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch {
    return []; // the process has ended
  }
}
