import { expect, test } from '@playwright/test';
import { verb } from '../harness/fixtures.ts';
import { until } from '../harness/process.ts';
import { middle, onScreen, xdotool } from './dragging.ts';
import { waitForWindow } from './desktop.ts';
import { composer } from './fixtures.ts';
import { Room } from './room.ts';

test.skip(process.platform !== 'linux', 'the real window is driven through WebKitGTK, which exists only on Linux');

const dialog = 'dialog[open]';

/** Clicks with the real pointer. */
async function click(room: Room, css: string): Promise<void> {
  const { x, y } = await onScreen(room.desktop, await middle(room.desktop, css));
  xdotool('mousemove', x - 1, y, 'mousemove', x, y, 'click', 1);
}

const focused = (room: Room) => room.desktop.page.run<string>(`const at = document.activeElement; return at?.getAttribute('aria-label') ?? at?.labels?.[0]?.innerText ?? at?.innerText ?? ''`);

/** Marks the first element of a kind that has this name, so that the pointer can find it. */
async function named(room: Room, kind: string, name: string): Promise<string> {
  await until(`${kind} “${name}”`, () => room.desktop.page.run<boolean>(`const found = [...document.querySelectorAll(arguments[0])].find((one) => one.checkVisibility() && (one.getAttribute('aria-label') ?? one.innerText).trim().startsWith(arguments[1]));
    document.querySelectorAll('[data-aimed]').forEach((one) => one.removeAttribute('data-aimed')); found?.setAttribute('data-aimed', ''); return found !== undefined`, kind, name));
  return '[data-aimed]';
}

test('a project with keyboard and mouse, in the real window: its dialog, a document, and the scope of memory', async () => {
  const room = await Room.open();
  const { page } = room.desktop;
  try {
    const window = await waitForWindow(room.desktop.pid);
    xdotool('windowactivate', '--sync', window);

    // With the keyboard: the palette, the name, the instructions.
    xdotool('key', 'ctrl+k');
    await until('the palette', () => page.has(dialog));
    xdotool('type', '--delay', 20, 'New project');
    await until('the command is found', async () => (await page.text(dialog)).includes('New project'));
    xdotool('key', 'Return');
    await until('the question for a name', async () => (await focused(room)) === 'Name');
    xdotool('type', '--delay', 20, 'Bakery');
    await until('the name is typed', () => page.run<boolean>(`return document.activeElement.value === 'Bakery'`));
    xdotool('key', 'Return');
    await until('its dialog', async () => (await focused(room)).startsWith('Instructions'));
    xdotool('type', '--delay', 20, 'Answer as a baker would.');
    await until('the instructions are typed', () => page.run<boolean>(`return document.activeElement.value === 'Answer as a baker would.'`));

    // With the mouse: a document. A driven window has no file chooser: it closes at once, and the dialog stays
    // unchanged.
    await click(room, await named(room, `${dialog} [role="tab"]`, 'Files'));
    await page.run(`document.querySelector('${dialog} input[type="file"]').addEventListener('cancel', () => document.body.setAttribute('data-left', ''))`);
    await click(room, await named(room, `${dialog} button`, 'Add documents'));
    await until('the file chooser is closed', () => page.has('body[data-left]'));
    await page.run(`const [input, carried] = [document.querySelector('${dialog} input[type="file"]'), new DataTransfer()];
      carried.items.add(new File(['# Prices\\n\\nA loaf of spelt costs seven francs.\\n'], 'prices.md', { type: 'text/markdown' }));
      input.files = carried.files; input.dispatchEvent(new Event('change', { bubbles: true }))`);
    await until('the document is read', () => page.run<boolean>(`return document.querySelector('${dialog} [aria-label="Remove prices.md"]') !== null`), 20_000);
    await click(room, await named(room, `${dialog} button`, 'Save'));
    await until('the dialog is closed', async () => !(await page.has(dialog)));
    const [project] = JSON.parse(verb(room.home, 'projects', '--json')).projects;
    expect(project).toMatchObject({ name: 'Bakery', instructions: 'Answer as a baker would.', files: 1 });

    // A chat in it; its memory scope, with mouse and keyboard.
    await click(room, await named(room, 'nav [aria-label^="Actions for the folder"], aside [aria-label^="Actions for the folder"]', 'Actions for the folder Bakery'));
    await click(room, await named(room, '[role="menuitem"]', 'New session in this project'));
    const reach = () => page.run<string>(`return document.querySelector('button.scope')?.getAttribute('aria-label') ?? ''`);
    await until('the project\'s memory', async () => (await reach()).includes('This project'));
    await click(room, 'button.scope');
    await click(room, await named(room, '[role="menuitemradio"]', 'This branch'));
    await until('this branch alone', async () => (await reach()).includes('This branch'));
    await until('the menu has closed', async () => !(await page.has('[role="menuitemradio"]')));
    await page.run(`document.querySelector('button.scope').focus()`);
    xdotool('key', 'Return');
    await until('the menu', async () => (await focused(room)).startsWith('This branch'));
    xdotool('key', 'Down', 'Down');
    await until('the project in it', async () => (await focused(room)).startsWith('This project'));
    xdotool('key', 'Return');
    await until('the project\'s memory again', async () => (await reach()).includes('This project'));
    await page.run(`document.querySelector('${composer}').focus()`);
    await room.talk('What does spelt cost?', 'Seven francs.');
    const request = JSON.stringify(room.provider.lastRequest());
    for (const part of ['Answer as a baker would.', 'seven francs']) expect(request).toContain(part);

    // Esc closes the dialog of the project too.
    await click(room, await named(room, 'nav [aria-label^="Actions for the folder"], aside [aria-label^="Actions for the folder"]', 'Actions for the folder Bakery'));
    await click(room, await named(room, '[role="menuitem"]', 'Project settings'));
    await until('its dialog', async () => (await focused(room)).startsWith('Instructions'));
    xdotool('key', 'Escape');
    await until('it is closed', async () => !(await page.has(dialog)));
  } finally {
    await room.close();
  }
});
