import { screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';
import type { FakeOptions } from '$lib/backend/fake';
import { importable } from '$lib/state/importing.svelte';
import { mountIn } from '../../test/mount';
import { mountWith } from '$shared/testing/harness';
import type { DroppedFile } from '$lib/backend/types';
import { taskView } from '$lib/backend/fake/work';
import ImportDialog from './ImportDialog.svelte';
import TaskCard from './TaskCard.svelte';
import WorkDialog from './WorkDialog.svelte';
import WorkLine from './WorkLine.svelte';
import { createdText, fileAdvice, fileText, percentOf, progressText, reportText, spokenProgress, stateWord } from './labels';

const user = userEvent.setup();
const droppedFile = (more: Partial<DroppedFile>): DroppedFile => ({ path: '/f', name: 'f', size: 0, kind: 'unknown', format: '', sealed: false, reason: '', ...more });

async function dialog(options: Partial<FakeOptions> = {}) {
  const mounted = await mountWith(ImportDialog, {}, options);
  const add = async (path: string) => {
    await user.type(screen.getByRole('textbox', { name: 'Path of a file' }), `${path}{Enter}`);
    await waitFor(() => expect(mounted.app.importing.busy).toBe(''));
  };
  const waitForEnd = () => waitFor(() => expect(mounted.app.work.running).toEqual([]));
  return { ...mounted, add, waitForEnd };
}

describe('texts about files and tasks', () => {
  it.each([
    [droppedFile({ kind: 'transcript', format: 'chatgpt', size: 25_400_000 }), true, 'ChatGPT export, 25.4\u202fMB', ''],
    [droppedFile({ kind: 'transcript', format: 'new-one' }), true, 'new-one', ''],
    [droppedFile({ kind: 'bundle', size: 12 }), true, 'ContextInfinity bundle, 12\u202fB', ''],
    [droppedFile({ kind: 'folder' }), true, 'Folder', 'Every transcript in it is read.'],
    [droppedFile({ kind: 'transcript', format: 'claude', reason: 'It is 9 GB.' }), false, 'Claude.ai export', 'It is 9 GB.'],
    [droppedFile({ kind: 'backup' }), false, 'Backup of ContextInfinity', 'A backup is the whole history'],
    [droppedFile({ kind: 'image' }), false, 'Picture', 'You can attach it to a message'],
    [droppedFile({ kind: 'unknown', reason: 'It is empty.' }), false, '', 'It is empty.'],
  ])('%#', (file, canImport, description, advice) => {
    expect([importable(file), fileText(file)]).toEqual([canImport, description]);
    expect(fileAdvice(file)).toMatch(advice === '' ? /^$/ : new RegExp(`^.*${advice.replace('.', '\\.')}`));
  });

  it.each([
    [{ done: 12, total: 40, unit: 'sessions' }, '12 of 40 sessions', 30], [{ done: 1, total: 1, unit: 'sessions' }, '1 of 1 session', 100],
    [{ done: 999, total: 1_000, unit: 'turns' }, '999 of 1\u202f000 turns', 99], [{ done: 7, total: 0, unit: 'turns' }, '7 turns', undefined],
    [{ done: 3_100_000, total: 25_400_000, unit: 'bytes' }, '3.1\u202fMB of 25.4\u202fMB', 12], [{ done: 5, total: 9, unit: '' }, '', 55],
  ])('%o is %s', (task, text, percent) => expect([progressText(taskView(task)), percentOf(taskView(task))]).toEqual([text, percent]));

  it('is announced in quarters', () => {
    const announcements = new Set(Array.from({ length: 100 }, (_, done) => spokenProgress(taskView({ done, total: 100 }))));
    expect([...announcements]).toEqual(['Import conversations.json started', ...[25, 50, 75].map((part) => `Import conversations.json: ${part}\u202f%`)]);
    expect(spokenProgress(taskView({ state: 'failed', error: { code: 'no_space', op: '', message: 'The disk is full', hint: '' } }))).toContain('failed. The disk is full');
  });
});

describe('importing', () => {
  it('shows the type of each file first, and starts with the readable ones', async () => {
    const { add, backend, waitForEnd } = await dialog();
    for (const path of ['/home/ada/conversations.json', '/home/ada/orders.cinf', '/home/ada/huge.zip', '/home/ada/backup.db']) await add(path);
    const files = within(screen.getByRole('list', { name: 'Files' }));
    expect(files.getByText(/ChatGPT export, 25\.4/)).toBeVisible();
    expect(files.getByText(/more than the 4 096 MB/)).toBeVisible();
    expect(files.getByText(/A backup is the whole history/)).toBeVisible();
    await user.click(screen.getByRole('button', { name: 'Import 2 files' }));
    expect(backend.calls.find((call) => call.name === 'transfer.importFiles')?.args).toEqual([['/home/ada/conversations.json', '/home/ada/orders.cinf'], '', '']);
    await waitForEnd();
    // A file that could not be started stays in the list, with its reason.
    expect(files.queryByText(/25\.4/)).toBeNull();
    expect(files.getByText('huge.zip')).toBeVisible();
    expect(screen.queryByRole('button', { name: /^Import \d/ })).toBeNull();
    expect(screen.getAllByRole('button', { name: 'Close' }).at(-1)).toHaveFocus(); // not lost with the button that disappeared
  });

  it('asks for the passphrase of sealed files', async () => {
    const { app, add, backend, waitForEnd } = await dialog();
    await add('/home/ada/conversations.json');
    expect(screen.queryByLabelText(/^Passphrase/)).toBeNull();
    await add('/home/ada/orders.cinf.age');
    expect(screen.getByText(/Bundle, sealed with a passphrase, 1\.9/)).toBeVisible();
    expect(screen.getByRole('button', { name: 'Import 2 files' })).toBeDisabled();
    const field = screen.getByLabelText('Passphrase of the sealed file');
    await user.type(field, 'wrong{Enter}');
    expect(await screen.findByRole('alert')).toHaveTextContent('The passphrase does not open orders.cinf.age; nothing was imported from it.');
    expect(app.importing.files).toHaveLength(2);
    expect(field).toHaveFocus();
    await user.keyboard('{Escape}');
    expect(screen.getByRole('alertdialog')).toHaveTextContent('Discard'); // a typed passphrase is not lost at once
    await user.keyboard('{Escape}');
    await user.keyboard('correct horse{Enter}'); // the wrong one is selected
    await waitForEnd();
    const paths = ['/home/ada/conversations.json', '/home/ada/orders.cinf.age'];
    expect(backend.calls.filter((call) => call.name === 'transfer.importFiles').at(-1)?.args).toEqual([paths, '', 'correct horse']);
    expect([app.importing.files, app.importing.passphrase]).toEqual([[], '']);
    expect(screen.queryByLabelText(/^Passphrase/)).toBeNull();
  });

  it('accepts files of the dialog, a quoted path, and the same file once', async () => {
    const { app, backend, add } = await dialog();
    backend.files.picked = ['/home/ada/a.json', '/home/ada/b.json'];
    await user.click(screen.getByRole('button', { name: 'Choose files…' }));
    await waitFor(() => expect(app.importing.files).toHaveLength(2));
    await add('"/home/ada/a.json"');
    expect(app.importing.files.map((file) => file.path)).toEqual(['/home/ada/b.json', '/home/ada/a.json']);
    await user.click(screen.getByRole('button', { name: 'Leave out b.json' }));
    expect(app.importing.ready.map((file) => file.name)).toEqual(['a.json']);
  });

  it('shows an error in place, and keeps the typed path', async () => {
    const { backend, add } = await dialog();
    backend.failNext('transfer.inspect', { message: 'The program is closing', hint: 'Start it again.' });
    await add('/home/ada/a.json');
    expect(screen.getByRole('alert')).toHaveTextContent(/The program is closing.*Start it again\./);
    expect(screen.getByRole('textbox', { name: 'Path of a file' })).toHaveValue('/home/ada/a.json');
  });

  it('reports what was and was not created, also as text, and opens the first session', async () => {
    const { app, add, waitForEnd } = await dialog();
    await add('/home/ada/conversations.json');
    await user.click(screen.getByRole('button', { name: 'Import 1 file' }));
    await waitForEnd();
    expect(await screen.findByText('35 sessions created, 2 extended.')).toBeVisible();
    const skipped = within(await screen.findByRole('list', { name: 'Entries that were not read' }));
    expect(skipped.getByText('Garden plan')).toBeVisible();
    expect(skipped.getByText('A message names a parent that is not there.')).toBeVisible();
    expect(skipped.getByText(/entry 7, byte 412/)).toBeVisible();
    const report = app.work.tasks[0]!.import!;
    expect(reportText(report)).toContain('- Garden plan (conversations.json, entry 7, byte 412 204): A message names a parent that is not there.');
    expect(reportText({ ...report, skippedCount: 30 })).toContain('- and 27 more');
    await user.click(screen.getByRole('button', { name: 'Open the first session' }));
    await waitFor(() => expect(app.conversation.session?.title).toBe('From conversations.json'));
    expect(app.importing.open).toBe(false);
  });

  it('adds nothing the second time, and says so', async () => {
    const { app, add, waitForEnd } = await dialog();
    for (let i = 0; i < 2; i++) {
      await add('/home/ada/conversations.json');
      await user.click(screen.getByRole('button', { name: 'Import 1 file' }));
      await waitForEnd();
    }
    expect(createdText(app.work.tasks[0]!.import!)).toBe('37 already there.');
    expect(createdText({ ...app.work.tasks[0]!.import!, already: 0 })).toBe('Nothing was added.');
  });

  it('does not call an empty import a success', async () => {
    const { app, add, waitForEnd } = await dialog();
    await add('/home/ada/conversations.json');
    await user.click(screen.getByRole('button', { name: 'Import 1 file' }));
    await waitForEnd();
    const task = app.work.tasks[0]!;
    const report = { ...task.import!, sessions: 0, grown: 0, already: 0, turns: 0, branches: 0, torn: true };
    expect(stateWord(task)).toBe('done');
    expect(stateWord({ ...task, import: report })).toBe('nothing imported');
    expect(reportText(report)).toContain('there was nothing to import');
    expect(reportText(report)).not.toContain('Everything before that was imported');
    expect(reportText({ ...report, already: 1 })).toContain('Everything before that was imported');
    const card = mountIn(app, TaskCard, { task: { ...task, id: 'empty', title: 'Import t.json', import: report }, onleave: () => undefined });
    const shown = screen.getByRole('region', { name: 'Import t.json' });
    expect(within(shown).getByText('nothing imported')).toHaveAttribute('data-tone', 'warn');
    card.unmount();
  });

  it('stops on request, keeps the imported part, and continues from there', async () => {
    const { app, add, waitForEnd } = await dialog({ taskMs: 40 });
    await add('/home/ada/conversations.json');
    await user.click(screen.getByRole('button', { name: 'Import 1 file' }));
    expect(await screen.findByRole('progressbar', { name: 'Import conversations.json' })).toHaveAttribute('aria-valuemax', '100');
    await user.click(screen.getByRole('button', { name: 'Cancel: Import conversations.json' }));
    await waitForEnd();
    expect(await screen.findByText(/It was cancelled\. What was read/)).toBeVisible();
    await user.click(screen.getByRole('button', { name: 'Resume: Import conversations.json' }));
    await waitFor(() => expect(app.work.running).toHaveLength(1));
    await waitForEnd();
    expect(app.work.tasks[0]!.state).toBe('done');
  });

  it('shows where a damaged file broke, and what was imported', async () => {
    const { add, waitForEnd } = await dialog();
    await add('/home/ada/broken.json');
    await user.click(screen.getByRole('button', { name: 'Import 1 file' }));
    await waitForEnd();
    expect(await screen.findByText('The file ends in the middle of conversation 31 of 40')).toBeVisible();
    expect(screen.getByText(/what is there is not added twice/)).toBeVisible();
  });

  it('keeps running imports when it is closed, and shows them again', async () => {
    const { app, add } = await dialog({ taskMs: 60 });
    await add('/home/ada/conversations.json');
    await user.click(screen.getByRole('button', { name: 'Import 1 file' }));
    app.importing.close();
    app.importing.show();
    expect(app.importing.tasks.map((task) => task.title)).toEqual(['Import conversations.json']);
  });

  it('asks for the path if the page knows only a name', async () => {
    const { app } = await dialog();
    app.importing.showPathless(['conversations.json']);
    expect(await screen.findByText('“conversations.json” cannot be read from here')).toBeVisible();
  });
});

describe('tasks', () => {
  it('are shown in a line below the sessions until they were opened', async () => {
    const { app, backend } = await mountWith(WorkLine, {}, { taskMs: 30 });
    expect(screen.queryByRole('button', { name: /long work/i })).toBeNull();
    await app.backend.transfer.importFiles(['/home/ada/conversations.json'], '', '');
    expect(await screen.findByText('Import conversations.json')).toBeVisible();
    await screen.findByRole('button', { name: /Import conversations\.json: done/ });
    // A toast reports it, with a link to the report; the line stays when the toast has disappeared.
    expect(app.toasts.list.map((toast) => [toast.text, toast.action?.label])).toEqual([['Import conversations.json: done', 'Show report']]);
    app.toasts.act(app.toasts.list[0]!.id);
    expect(app.work.open).toBe(true);
    app.work.markOpened(backend.tasks.list[0]!.id);
    await waitFor(() => expect(screen.queryByRole('button', { name: /conversations\.json/ })).toBeNull());
  });

  it('are announced together, and a failure with its message and a sign that stays', async () => {
    const { app } = await mountWith(WorkLine, {}, { taskMs: 20 });
    await app.backend.transfer.importFiles(['/home/ada/broken.json', '/home/ada/b.json'], '', '');
    expect(await screen.findByText('2 running')).toBeVisible();
    await waitFor(() => expect(screen.getByText('2 reports')).toBeVisible());
    expect(app.toasts.list.find((toast) => toast.tone === 'danger')?.text).toContain('The file ends in the middle');
    await user.click(screen.getByRole('button', { name: /2 reports/ }));
    expect(app.work.open).toBe(true);
  });

  it('continue after a restart, and can be dismissed', async () => {
    const { app } = await mountWith(WorkDialog, {}, {}, (backend) => {
      backend.tasks.list = [taskView({ id: 'before', title: 'Import old.zip', state: 'interrupted', done: 3, total: 9, unit: 'sessions', resumable: true }), taskView({ id: 'failed', kind: 'backup', title: 'Back up', state: 'failed', error: { code: 'no_space', op: '', message: 'The disk is full', hint: 'Free some space.' } })];
    });
    const card = within(screen.getByRole('region', { name: 'Import old.zip' }));
    expect(card.getByText(/The program ended while this ran, at 3 of 9 sessions/)).toBeVisible();
    expect(screen.getByText('Free some space.')).toBeVisible();
    await user.click(card.getByRole('button', { name: 'Resume: Import old.zip' }));
    await waitFor(() => expect(app.work.tasks[0]!.state).toBe('done'));
    expect(app.toasts.list).toEqual([]); // it was visible when it ended
    await user.click(screen.getByRole('button', { name: 'Clear finished' }));
    expect(await screen.findByText('No running tasks')).toBeVisible();
  });

  it('keep the error of a failed action beside it', async () => {
    const { backend } = await mountWith(WorkDialog, {}, {}, (fake) => (fake.tasks.list = [taskView({ id: 'x', state: 'done', kind: 'export', title: 'Export a.md', path: '/gone/a.md' })]));
    backend.failNext('transfer.reveal', { message: '/gone/a.md no longer exists' });
    await user.click(screen.getByRole('button', { name: 'Show in folder' }));
    expect(await screen.findByRole('alert')).toHaveTextContent('/gone/a.md no longer exists');
  });
});

it('says how to get an export, until a file is chosen', async () => {
  const { add } = await dialog();
  await user.click(screen.getByText('How do I get my export?'));
  expect(await screen.findByText(/Data controls, Export data/)).toBeVisible();
  await add('/home/ada/conversations.json');
  expect(screen.queryByText('How do I get my export?')).toBeNull();
});
