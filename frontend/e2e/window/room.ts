import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Home } from '../harness/home.ts';
import { belonging, built, until } from '../harness/process.ts';
import { Provider } from '../harness/provider.ts';
import { Vendors } from '../harness/vendors.ts';
import { Desk } from './desk.ts';
import { Desktop } from './desktop.ts';
import { composer, pastFirstStart, said, say } from './fixtures.ts';
import { Surroundings } from './surroundings.ts';

/** One open window shared by tests that do not affect each other, because starting takes longer than the tests. */
export class Room {
  private constructor(
    readonly surroundings: Surroundings,
    readonly home: Home,
    readonly provider: Provider,
    readonly vendors: Vendors,
    readonly desk: Desk,
    private opened: Desktop,
  ) {}

  get desktop(): Desktop {
    return this.opened;
  }

  /**
   * Takes environment variables, which may refer to files of its home, the size of the screen, and more configuration.
   */
  static async open(extra: Record<string, string> | ((home: Home) => Record<string, string>) = {}, screen?: string, more = ''): Promise<Room> {
    const surroundings = await Surroundings.stand(screen);
    const home = new Home();
    const provider = await Provider.start();
    home.configure(provider, more);
    const vendors = await Vendors.start(home, provider);
    const desktop = await Desktop.start(home, built('contextinfinity'), { ...vendors.env, ...(typeof extra === 'function' ? extra(home) : extra) });
    const room = new Room(surroundings, home, provider, vendors, new Desk(home), desktop);
    await pastFirstStart(desktop);
    return room;
  }

  /** Closes the window as a user does, and opens it again with the same home. */
  async reopen(extra: Record<string, string>): Promise<void> {
    if (!(await this.desktop.close())) throw new Error('the program did not end with its window');
    this.opened = await Desktop.start(this.home, built('contextinfinity'), { ...this.vendors.env, ...extra });
    await until('the conversation is open again', async () => /branch/.test(await this.desktop.page.text('h1')) && (await this.desktop.page.has(composer)));
  }

  /**
   * Sends a message, and waits until the answer's last words are shown and the turn is final, which is required to fork
   * after it.
   */
  async talk(question: string, answer: string, last = answer): Promise<void> {
    this.provider.answer(question, answer);
    await say(this.desktop, question);
    await until(`the answer to “${question}”`, async () => (await said(this.desktop)).includes(last));
    await until('the turn is final', () => this.desktop.page.run<boolean>(`return !/accepted|preparing|responding/.test([...document.querySelectorAll('article[data-turn]')].at(-1)?.getAttribute('aria-label') ?? 'responding')`));
  }

  /** Creates a file in the home, and returns its address. */
  file(name: string, content: string | Buffer): string {
    writeFileSync(join(this.home.root, name), content);
    return pathToFileURL(join(this.home.root, name)).href;
  }

  async close(): Promise<void> {
    await this.desk.clear();
    await this.desktop.abandon();
    await this.vendors.stop();
    await this.provider.stop();
    await until('all started processes have ended', () => belonging(this.home.root).length === 0);
    this.home.remove();
    await this.surroundings.clear();
  }
}
