import { Child, repository, until, within } from '../harness/process.ts';

const names = ['DISPLAY', 'DBUS_SESSION_BUS_ADDRESS', 'GSETTINGS_BACKEND', 'NO_AT_BRIDGE'];

/**
 * A screen with a window manager and a session bus for one test, which shares drags, tray icons and notifications with
 * no other. While it exists, processes started by this one belong to it.
 */
export class Surroundings {
  private constructor(
    private readonly child: Child,
    private readonly before: Record<string, string | undefined>,
  ) {}

  static async stand(screen = '1440x1000'): Promise<Surroundings> {
    // The command prints its addresses, and ends with its input.
    const say = names.map((name) => `echo "<${name}=$${name}>"`).join('; ');
    const child = new Child(`${repository}scripts/with-display`, ['sh', '-c', `${say}; echo '<ready>'; cat`], { ...process.env, SCREEN_SIZE: screen } as Record<string, string>, repository, 'pipe');
    await until('a screen and a bus', () => {
      if (!child.running) throw new Error(child.output);
      return child.output.includes('<ready>');
    });
    const before = Object.fromEntries(names.map((name) => [name, process.env[name]]));
    // Other output may have no line ends, so the text is put in brackets.
    for (const name of names) process.env[name] = new RegExp(`<${name}=([^>]*)>`).exec(child.output)?.[1] ?? '';
    return new Surroundings(child, before);
  }

  async clear(): Promise<void> {
    this.child.process.stdin?.end();
    if (!(await within(30_000, this.child.ended))) await this.child.crash();
    for (const name of names) {
      const value = this.before[name];
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
}
