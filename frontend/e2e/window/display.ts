import { Child, repository, until, within } from '../harness/process.ts';

const names = ['DISPLAY', 'DBUS_SESSION_BUS_ADDRESS', 'GSETTINGS_BACKEND', 'NO_AT_BRIDGE'];

/**
 * A virtual screen with a window manager and a session bus for one test, so that drags, tray icons and notifications of
 * tests do not mix. Until it is stopped, the environment of this process refers to it, so started processes use it.
 */
export class TestDisplay {
  private constructor(
    private readonly child: Child,
    private readonly previous: Record<string, string | undefined>,
  ) {}

  static async start(screen = '1440x1000'): Promise<TestDisplay> {
    // The command prints the variables, and ends when its input is closed.
    const printNames = names.map((name) => `echo "<${name}=$${name}>"`).join('; ');
    const child = new Child(`${repository}scripts/with-display`, ['sh', '-c', `${printNames}; echo '<ready>'; cat`], { ...process.env, SCREEN_SIZE: screen } as Record<string, string>, repository, 'pipe');
    await until('the screen and the session bus', () => {
      if (!child.running) throw new Error(child.output);
      return child.output.includes('<ready>');
    });
    const previous = Object.fromEntries(names.map((name) => [name, process.env[name]]));
    // Other output may lack line ends, so the values are in brackets.
    for (const name of names) process.env[name] = new RegExp(`<${name}=([^>]*)>`).exec(child.output)?.[1] ?? '';
    return new TestDisplay(child, previous);
  }

  async stop(): Promise<void> {
    this.child.process.stdin?.end();
    if (!(await within(30_000, this.child.ended))) await this.child.crash();
    for (const name of names) {
      const value = this.previous[name];
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
}
