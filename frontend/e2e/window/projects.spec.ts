import { expect, test } from '@playwright/test';
import { cli } from '../harness/fixtures.ts';
import { until } from '../harness/process.ts';
import { exhaustive } from '../harness/tier.ts';
import { middle, onScreen, xdotool } from './dragging.ts';
import { waitForWindow } from './desktop.ts';
import { composer } from './fixtures.ts';
import { WindowEnv } from './windowenv.ts';

test.skip(process.platform !== 'linux', 'the real window is driven through WebKitGTK, which exists only on Linux');

const dialog = 'dialog[open]';

/** Clicks with the real pointer. */
async function click(env: WindowEnv, css: string): Promise<void> {
  const { x, y } = await onScreen(env.desktop, await middle(env.desktop, css));
  xdotool('mousemove', x - 1, y, 'mousemove', x, y, 'click', 1);
}

const focusedName = (env: WindowEnv) => env.desktop.page.run<string>(`const element = document.activeElement; return element?.getAttribute('aria-label') ?? element?.labels?.[0]?.innerText ?? element?.innerText ?? ''`);

/** Marks the first visible match of the selector whose name begins with `name`; returns a selector for the mark. */
async function markNamed(env: WindowEnv, css: string, name: string): Promise<string> {
  await until(`${css} “${name}”`, () => env.desktop.page.run<boolean>(`const found = [...document.querySelectorAll(arguments[0])].find((element) => element.checkVisibility() && (element.getAttribute('aria-label') ?? element.innerText).trim().startsWith(arguments[1]));
    document.querySelectorAll('[data-marked]').forEach((element) => element.removeAttribute('data-marked')); found?.setAttribute('data-marked', ''); return found !== undefined`, css, name));
  return '[data-marked]';
}

test('in the real window, a project and its scope of memory are set up with keyboard and mouse',
  exhaustive, async () => {
  const env = await WindowEnv.open();
  const { page } = env.desktop;
  try {
    const window = await waitForWindow(env.desktop.pid);
    xdotool('windowactivate', '--sync', window);

    // With the keyboard: the palette, the name, the instructions.
    xdotool('key', 'ctrl+k');
    await until('the palette', () => page.has(dialog));
    xdotool('type', '--delay', 20, 'New project');
    await until('the command is found', async () => (await page.text(dialog)).includes('New project'));
    xdotool('key', 'Return');
    await until('the question for a name', async () => (await focusedName(env)) === 'Name');
    xdotool('type', '--delay', 20, 'Bakery');
    await until('the name is typed', () => page.run<boolean>(`return document.activeElement.value === 'Bakery'`));
    xdotool('key', 'Return');
    await until('the dialog of the project', async () => (await focusedName(env)).startsWith('Instructions'));
    xdotool('type', '--delay', 20, 'Answer as a baker would.');
    await until('the instructions are typed', () => page.run<boolean>(`return document.activeElement.value === 'Answer as a baker would.'`));

    // With the mouse: a document. In a driven window the file chooser closes at once, and the dialog stays unchanged, so
    // the script sets the file.
    await click(env, await markNamed(env, `${dialog} [role="tab"]`, 'Files'));
    await page.run(`document.querySelector('${dialog} input[type="file"]').addEventListener('cancel', () => document.body.setAttribute('data-cancelled', ''))`);
    await click(env, await markNamed(env, `${dialog} button`, 'Add documents'));
    await until('the file chooser is closed', () => page.has('body[data-cancelled]'));
    await page.run(`const [input, data] = [document.querySelector('${dialog} input[type="file"]'), new DataTransfer()];
      data.items.add(new File(['# Prices\\n\\nA loaf of spelt costs seven francs.\\n'], 'prices.md', { type: 'text/markdown' }));
      input.files = data.files; input.dispatchEvent(new Event('change', { bubbles: true }))`);
    await until('the document is read', () => page.run<boolean>(`return document.querySelector('${dialog} [aria-label="Remove prices.md"]') !== null`), 20_000);
    await click(env, await markNamed(env, `${dialog} button`, 'Save'));
    await until('the dialog is closed', async () => !(await page.has(dialog)));
    const [project] = JSON.parse(cli(env.home, 'projects', '--json')).projects;
    expect(project).toMatchObject({ name: 'Bakery', instructions: 'Answer as a baker would.', files: 1 });

    // A session in the project, and its scope of memory, with mouse and keyboard.
    await click(env, await markNamed(env, 'nav [aria-label^="Actions for the folder"], aside [aria-label^="Actions for the folder"]', 'Actions for the folder Bakery'));
    await click(env, await markNamed(env, '[role="menuitem"]', 'New session in this project'));
    const scope = () => page.run<string>(`return document.querySelector('button.scope')?.getAttribute('aria-label') ?? ''`);
    await until('the scope of the project', async () => (await scope()).includes('This project'));
    await click(env, 'button.scope');
    await click(env, await markNamed(env, '[role="menuitemradio"]', 'This branch'));
    await until('the scope of this branch', async () => (await scope()).includes('This branch'));
    await until('the menu is closed', async () => !(await page.has('[role="menuitemradio"]')));
    await page.run(`document.querySelector('button.scope').focus()`);
    xdotool('key', 'Return');
    await until('the menu of scopes', async () => (await focusedName(env)).startsWith('This branch'));
    xdotool('key', 'Down', 'Down');
    await until('the project is selected in the menu', async () => (await focusedName(env)).startsWith('This project'));
    xdotool('key', 'Return');
    await until('the scope of the project again', async () => (await scope()).includes('This project'));
    await page.run(`document.querySelector('${composer}').focus()`);
    await env.talk('What does spelt cost?', 'Seven francs.');
    const request = JSON.stringify(env.provider.lastRequest());
    for (const part of ['Answer as a baker would.', 'seven francs']) expect(request).toContain(part);

    // Esc also closes the dialog of a project.
    await click(env, await markNamed(env, 'nav [aria-label^="Actions for the folder"], aside [aria-label^="Actions for the folder"]', 'Actions for the folder Bakery'));
    await click(env, await markNamed(env, '[role="menuitem"]', 'Project settings'));
    await until('the dialog of the project', async () => (await focusedName(env)).startsWith('Instructions'));
    xdotool('key', 'Escape');
    await until('the dialog is closed', async () => !(await page.has(dialog)));
  } finally {
    await env.close();
  }
});
