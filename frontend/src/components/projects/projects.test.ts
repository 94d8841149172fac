import { screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';
import { BackendError } from '$lib/backend/errors';
import { scanView } from '$lib/backend/fake/projects';
import { chooseLanguage } from '$lib/i18n/i18n.svelte';
import { groupSessions } from '$lib/state/sessionGroups';
import { mountIn, startedApp } from '../../test/mount';
import FullView from '../branches/FullView.svelte';
import ComposerBar from '../composer/ComposerBar.svelte';
import Header from '../header/Header.svelte';
import ScopeQuestion from '../knows/ScopeQuestion.svelte';
import MemoryFilters from '../memory/MemoryFilters.svelte';
import FolderDialog from '../sessions/FolderDialog.svelte';
import FolderLine from '../sessions/FolderLine.svelte';
import DeletionDialog from '../storage/DeletionDialog.svelte';
import ProjectDialogs from './ProjectDialogs.svelte';
import { changeText, reasonText, skippedCount } from './labels';

async function opened() {
  const started = await startedApp({ data: 'rich', tools: true });
  const { app, backend } = started;
  const { row } = [...backend.store.sessions.values()].find((session) => session.row.title === 'Orders to Postgres')!;
  await app.navigation.openSession(row.id);
  const calls = (name: string) => backend.calls.filter((call) => call.name === name).map((call) => call.args);
  return { ...started, calls, row, user: userEvent.setup() };
}

const line = (name: string, count: number) => ({ id: `folder:${name}`, name, count, open: true, reachable: true, onrename: () => undefined, onfocus: () => undefined });

/** A project that contains the open session. */
async function inProject() {
  const started = await opened();
  const { app, backend, row } = started;
  const project = await backend.projects.create('Bakery');
  await backend.sessions.setFolder([row.id], 'Bakery');
  await app.projects.load();
  await app.navigation.openSession(row.id);
  await waitFor(() => expect(app.conversation.header?.project).toBe('Bakery'));
  return { ...started, id: project.id };
}

describe('the result of scanning a folder', () => {
  it.each([
    [{ newCount: 3, changedCount: 1, removedCount: 2 }, '3 new, 1 changed, 2 removed'],
    [{ newCount: 0, changedCount: 1, removedCount: 0 }, '1 changed'],
    [{ newCount: 0, changedCount: 0, removedCount: 0 }, 'no changes'],
  ])('as text', (counts, text) => expect(changeText(counts)).toBe(text));

  it('shows why files were skipped, also for an unknown reason', () => {
    expect([reasonText('may contain secrets'), reasonText('of another moon')]).toEqual(['May contain secrets', 'of another moon']);
    expect(skippedCount({ skipped: [{ reason: 'a', count: 2 }, { reason: 'b', count: 3 }] })).toBe(5);
  });
});

describe('a project', () => {
  it('is created by name, given instructions, a model, tools and facts, and saved together', async () => {
    const { app, backend, calls, user } = await opened();
    mountIn(app, ProjectDialogs, {});
    app.projects.ask();
    await user.type(await screen.findByRole('textbox', { name: 'Name' }), 'Bakery{Enter}');
    const dialog = await screen.findByRole('dialog', { name: 'Project “Bakery”' });
    await waitFor(() => expect(within(dialog).getByRole('textbox', { name: 'Instructions' })).toHaveFocus());
    await user.keyboard('Answer as a baker.');
    await user.selectOptions(within(dialog).getByRole('combobox', { name: 'Model' }), 'local');
    await user.click(await within(dialog).findByRole('radio', { name: 'Only these' }));
    expect(within(dialog).getByText('No tool is chosen, so all are offered.')).toBeVisible();
    await user.click(within(dialog).getAllByRole('checkbox', { name: /^All tools of / })[0]!);
    await user.click(within(dialog).getByRole('tab', { name: /Pinned facts/ }));
    await user.click(within(dialog).getByRole('button', { name: 'Add a fact' }));
    await waitFor(() => expect(within(dialog).getByRole('textbox', { name: 'Pinned fact 1' })).toHaveFocus());
    await user.keyboard('The oven is Hildegard.');
    await user.click(within(dialog).getByRole('button', { name: 'Add a fact' }));
    await waitFor(() => expect(within(dialog).getByRole('textbox', { name: 'Pinned fact 2' })).toHaveFocus());
    await user.keyboard('Rye on Monday.');
    await user.click(within(dialog).getByRole('button', { name: 'Move pinned fact 2 up' }));
    await user.click(within(dialog).getByRole('button', { name: 'Save' }));
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    const [saved] = calls('projects.save').at(-1)! as [{ instructions: string; model: string; tools: string[]; facts: string[] }];
    expect(saved).toMatchObject({ name: 'Bakery', instructions: 'Answer as a baker.', model: 'local', facts: ['Rye on Monday.', 'The oven is Hildegard.'] });
    expect(saved.tools).toHaveLength(1);
    expect((await backend.projects.project(app.projects.list[0]!.id)).facts).toEqual(['Rye on Monday.', 'The oven is Hildegard.']);
  });

  it('keeps the text when saving fails, and shows why', async () => {
    const { app, backend, user } = await opened();
    await backend.projects.create('Garden');
    const { id } = await backend.projects.create('Bakery');
    await app.projects.load();
    mountIn(app, ProjectDialogs, {});
    app.projects.show(id);
    const name = await screen.findByRole('textbox', { name: 'Name' });
    await user.clear(name);
    await user.type(name, 'Garden');
    await user.click(screen.getByRole('button', { name: 'Save' }));
    expect(await screen.findByText(/There is a project "Garden" already/)).toBeVisible();
    expect(name).toHaveValue('Garden');
  });

  it('adds documents, removes them after a confirmation, and watches a folder', async () => {
    const { app, backend, calls, user } = await opened();
    const { id } = await backend.projects.create('Bakery');
    mountIn(app, ProjectDialogs, {});
    app.projects.show(id, 'files');
    const dialog = await screen.findByRole('dialog', { name: 'Project “Bakery”' });
    const picker = await waitFor(() => dialog.querySelector<HTMLInputElement>('input[type=file]')!);
    await user.upload(picker, [new File(['# Oven'], 'oven.md'), new File(['a\0b'], 'photo.raw')]);
    expect(await within(dialog).findByRole('button', { name: 'Remove oven.md' })).toBeVisible();
    expect(await within(dialog).findByText(/photo.raw is neither text nor a PDF/)).toBeVisible();
    await user.click(within(dialog).getByRole('button', { name: 'Remove oven.md' }));
    await user.click(within(screen.getByRole('dialog', { name: /^Remove “oven.md”/ })).getByRole('button', { name: 'Remove' }));
    await waitFor(() => expect(within(dialog).queryByText('oven.md')).toBeNull());

    await user.type(within(dialog).getByRole('textbox', { name: 'Folder' }), 'bakery{Enter}');
    expect(await within(dialog).findByText(/is not a whole path/)).toBeVisible();
    await user.clear(within(dialog).getByRole('textbox', { name: 'Folder' }));
    await user.type(within(dialog).getByRole('textbox', { name: 'Folder' }), '/srv/bakery{Enter}');
    expect(await within(dialog).findByText(/3 new$/)).toBeVisible();
    expect(within(dialog).getByText('1 file left out')).toBeVisible();
    await user.click(within(dialog).getByRole('button', { name: 'Check now' }));
    expect(calls('projects.rescan')).toEqual([[id]]);
    await user.click(within(dialog).getByRole('button', { name: 'Stop watching…' }));
    await user.click(within(screen.getByRole('dialog', { name: 'Stop watching this folder?' })).getByRole('button', { name: 'Stop watching' }));
    expect(await within(dialog).findByRole('textbox', { name: 'Folder' })).toBeVisible();
    expect(calls('projects.watch').at(-1)).toEqual([id, '']);
  });

  it('is deleted with a dialog that lists what is removed', async () => {
    const { app, backend, user } = await opened();
    backend.disk.backups = [];
    const { id } = await backend.projects.create('Bakery');
    mountIn(app, ProjectDialogs, {});
    app.projects.show(id);
    await user.click(await screen.findByRole('button', { name: 'Delete project…' }));
    expect(app.projects.open).toBeNull();
    await waitFor(() => expect(app.deletion.preview?.title).toBe('Bakery'));
    app.deletion.typed = 'delete';
    await app.deletion.delete();
    expect(app.deletion.receipt?.kind).toBe('project');
    expect(app.projects.list).toEqual([]);
    mountIn(app, DeletionDialog, {});
    const dialog = await screen.findByRole('dialog');
    expect(within(dialog).getByText(id)).toBeVisible();
    expect(within(dialog).getByText('Project', { selector: 'dt' })).toBeVisible();
    await chooseLanguage('de', []);
    expect(await within(dialog).findByText('Es ist nicht mehr im Datenverzeichnis.')).toBeVisible();
    expect(within(dialog).getByText('Projekt', { selector: 'dt' })).toBeVisible();
    await chooseLanguage('en', []);
  });

  it('shows why its folder could not be scanned', async () => {
    const { app, backend } = await opened();
    const { id } = await backend.projects.create('Bakery');
    await backend.projects.watch(id, '/srv/bakery');
    backend.store.projects[0]!.view.scan = scanView({ error: 'The folder cannot be read, so its index was not changed: it is gone' });
    mountIn(app, ProjectDialogs, {});
    app.projects.show(id, 'files');
    expect(await screen.findByText(/The folder cannot be read/)).toBeVisible();
  });

  it('stays open with its text when the file chooser is cancelled', async () => {
    const { app, user } = await opened();
    await app.projects.create('Bakery');
    mountIn(app, ProjectDialogs, {});
    await user.type(await screen.findByRole('textbox', { name: 'Instructions' }), 'Answer as a baker would.');
    await user.click(screen.getByRole('tab', { name: /Files/ }));
    await screen.findByRole('button', { name: 'Add documents…' });
    document.querySelector('dialog input[type="file"]')!.dispatchEvent(new Event('cancel', { bubbles: true }));
    expect(app.projects.open).not.toBeNull();
    await user.click(screen.getByRole('tab', { name: 'Settings' }));
    expect(screen.getByRole('textbox', { name: 'Instructions' })).toHaveValue('Answer as a baker would.');
  });
});

describe('sessions of a project', () => {
  it('are listed below it; an empty project is listed too, and new sessions start in it', async () => {
    const { app, backend, calls, user } = await opened();
    await backend.projects.create('Bakery');
    await app.projects.load();
    expect(groupSessions(app.sessions.list, Date.now(), new Set(), ['Bakery'])).toContainEqual({ kind: 'folder', id: 'folder:Bakery', name: 'Bakery', count: 0, open: true });
    mountIn(app, FolderLine, line('Bakery', 0));
    expect(screen.getByRole('button', { name: /^Bakery.*Project/ })).toBeVisible();
    await user.click(screen.getByRole('button', { name: 'Actions for the folder Bakery' }));
    expect(within(screen.getByRole('menu')).queryByRole('menuitem', { name: /Archive/ })).toBeNull();
    app.arranging.collapse('Bakery', true);
    await user.click(screen.getByRole('menuitem', { name: 'New session in this project' }));
    await waitFor(() => expect(app.conversation.session?.folder).toBe('Bakery'));
    expect(app.arranging.collapsed.has('Bakery')).toBe(false); // the new session is in sight
    // An empty chat is only reused in its own folder.
    await app.navigation.newSessionIn('Bakery');
    expect(calls('projects.startSession')).toEqual([['Bakery']]);
    await app.navigation.newSession();
    expect(app.conversation.session?.folder).toBe('');
  });

  it('a plain folder becomes a project', async () => {
    const { app, row, user } = await opened();
    await app.backend.sessions.setFolder([row.id], 'Letters');
    await app.backend.sessions.pin(row.id, false);
    await app.sessions.load();
    mountIn(app, FolderLine, line('Letters', 1));
    await user.click(screen.getByRole('button', { name: 'Actions for the folder Letters' }));
    await user.click(screen.getByRole('menuitem', { name: /^Make it a project/ }));
    await waitFor(() => expect(app.projects.list.map(({ name }) => name)).toEqual(['Letters']));
    expect(app.projects.open?.part).toBe('settings');
  });

  it('can be moved into an empty project', async () => {
    const { app, backend, row, user } = await opened();
    await backend.projects.create('Bakery');
    await app.projects.load();
    mountIn(app, FolderDialog, { ids: [row.id] });
    await user.click(await screen.findByRole('button', { name: /^Bakery/ }));
    await waitFor(() => expect(app.sessions.find(row.id)?.folder).toBe('Bakery'));
  });

  it('show their project in the header, with its menu', async () => {
    const { app, row, user } = await inProject();
    mountIn(app, Header, {});
    await user.click(screen.getByRole('button', { name: /^Project Bakery/ }));
    await user.click(screen.getByRole('menuitem', { name: 'Files…' }));
    expect(app.projects.open).toMatchObject({ part: 'files' });
    app.projects.close();
    await user.click(screen.getByRole('button', { name: /^Project Bakery/ }));
    await user.click(screen.getByRole('menuitem', { name: 'Take this session out of the project' }));
    await waitFor(() => expect(app.sessions.find(row.id)?.folder).toBe(''));
    await waitFor(() => expect(screen.queryByRole('button', { name: /^Project Bakery/ })).toBeNull());
  });
});

describe('the scope of memory', () => {
  it('is changed beside the message field, for this session, and reset to the default', async () => {
    const { app, calls, row, user } = await inProject();
    mountIn(app, ComposerBar, { onattach: () => undefined });
    await user.click(screen.getByRole('button', { name: 'Scope of memory: This project. Change it' }));
    expect(screen.getByRole('menuitemradio', { checked: true })).toHaveTextContent('This project');
    await user.click(screen.getByRole('menuitemradio', { name: /^All sessions/ }));
    await waitFor(() => expect(screen.getByRole('button', { name: 'Scope of memory: All sessions. Change it' })).toHaveFocus());
    await user.keyboard('{Enter}');
    await user.click(screen.getByRole('menuitem', { name: /^Default/ }));
    expect(await screen.findByRole('button', { name: 'Scope of memory: This project. Change it' })).toBeVisible();
    expect(calls('projects.setScope')).toEqual([[row.id, 'all'], [row.id, '']]);
  });

  it('does not offer a project if there is none, and shows errors', async () => {
    const { app, backend, user } = await opened();
    backend.failNext('projects.setScope', { message: 'The disk is full.' });
    mountIn(app, ComposerBar, { onattach: () => undefined });
    await user.click(screen.getByRole('button', { name: 'Scope of memory: This branch. Change it' }));
    expect(screen.getAllByRole('menuitemradio').map((item) => item.textContent?.includes('project'))).toEqual([false, false, false]);
    await user.click(screen.getByRole('menuitemradio', { name: /^This session/ }));
    await waitFor(() => expect(app.toasts.list.some(({ text }) => text.includes('The disk is full.'))).toBe(true));
  });

  it('is all sessions with recall until it is chosen, because nothing is sent', async () => {
    const { app, backend, row, user } = await opened();
    await backend.chat.setModel(row.id, 'recall');
    mountIn(app, ComposerBar, { onattach: () => undefined });
    await user.click(await screen.findByRole('button', { name: 'Scope of memory: All sessions. Change it' }));
    await user.click(screen.getByRole('menuitemradio', { name: /^This branch/ }));
    await user.click(await screen.findByRole('button', { name: 'Scope of memory: This branch. Change it' }));
    expect(screen.getByRole('menuitem', { name: /^Default/ })).toHaveTextContent('All sessions, unless the settings say otherwise');
  });

  it('is that of the model chosen for the next message, and of the session again afterwards', async () => {
    const { app, user } = await opened();
    mountIn(app, ComposerBar, { onattach: () => undefined });
    app.composer.useOnce({ model: 'recall', effort: '' });
    await user.click(await screen.findByRole('button', { name: 'Scope of memory: All sessions. Change it' }));
    expect(screen.getByRole('menuitemradio', { checked: true })).toHaveTextContent('All sessions');
    await user.keyboard('{Escape}');
    app.composer.useOnce(null);
    expect(await screen.findByRole('button', { name: 'Scope of memory: This branch. Change it' })).toBeVisible();
  });

  it('changes at once when the chat moves into a project', async () => {
    const { app, backend, row, user } = await inProject();
    mountIn(app, ComposerBar, { onattach: () => undefined });
    expect(user && screen.getByRole('button', { name: 'Scope of memory: This project. Change it' })).toBeVisible();
    await backend.sessions.setFolder([row.id], '');
    expect(await screen.findByRole('button', { name: 'Scope of memory: This branch. Change it' })).toBeVisible();
  });

  it('is shown in the Memory tab, and reset when the chat leaves its project', async () => {
    const { app, backend, row, user } = await inProject();
    const { unmount } = mountIn(app, MemoryFilters, { memory: app.memory, inProject: true });
    await user.click(screen.getByRole('radio', { name: 'Project' }));
    const page = await backend.memory.chunks({ ...app.memory.filter, sessionId: row.id, branchId: app.conversation.branchId, text: '', offset: 0, limit: 50 });
    expect(new Set(page.chunks.map(({ sessionId }) => sessionId))).toEqual(new Set([row.id]));
    unmount();
    mountIn(app, MemoryFilters, { memory: app.memory, inProject: false });
    await waitFor(() => expect(app.memory.filter.scope).toBe('lineage'));
  });

  it('can be the project when it is asked, and "only this branch" then applies in the project too', async () => {
    const { app, backend, calls, user } = await inProject();
    mountIn(app, ScopeQuestion, {});
    await app.navigation.newSessionIn('Bakery');
    await user.click(await screen.findByRole('button', { name: 'This project' }));
    expect(calls('settings.set').at(-1)).toEqual(['retrieval.scope', 'project']);
    await backend.settings.reset('retrieval.scope');
    await app.memoryScope.choose('lineage');
    expect(calls('projects.setScope').at(-1)).toEqual([app.conversation.sessionId, 'lineage']);
  });
});

describe('a document that cannot be sent', () => {
  it('is rejected before anything is sent', async () => {
    const { checkDocument } = await import('$lib/state/documents.svelte');
    expect(() => checkDocument({ name: 'empty.md', size: 0 })).toThrow(BackendError);
    expect(() => checkDocument({ name: 'whole.md', size: 5 })).not.toThrow();
  });
});

describe('the page of a project', () => {
  it('shows its sessions, instructions, facts, files and memory, and opens them', async () => {
    const { app, backend, id, row, user } = await inProject();
    const project = await backend.projects.project(id);
    await backend.projects.save({ ...project, instructions: 'Weigh everything.', facts: ['Rye is at 80 % water'] });
    await app.navigation.newSession();
    app.branches.showProject(id);
    mountIn(app, FullView, { view: app.branches.fullView! });
    expect(await screen.findByText('Weigh everything.')).toBeVisible();
    expect(screen.getByText('Rye is at 80 % water')).toBeVisible();
    expect(screen.getByText(/passages? of its sessions and files|Nothing yet/)).toBeVisible();
    expect(screen.getByRole('button', { name: 'Add documents…' })).toBeVisible();
    await user.click(screen.getByRole('button', { name: 'Change the pinned facts' }));
    expect(app.projects.open).toEqual({ id, part: 'facts' });
    app.projects.close();
    await user.click(screen.getByRole('button', { name: /^Orders to Postgres/ }));
    await waitFor(() => expect(app.conversation.sessionId).toBe(row.id));
    expect(app.branches.fullView).toBeNull();
    await app.commands.run('projectPage');
    expect(app.branches.fullView).toEqual({ kind: 'project', id });
  });

  it('lists sessions that arrive while it is open', async () => {
    const { app, backend, id } = await inProject();
    app.branches.showProject(id);
    mountIn(app, FullView, { view: app.branches.fullView! });
    await screen.findByRole('button', { name: /^Orders to Postgres/ });
    const other = (await backend.sessions.list(false, '')).find((row) => row.title === 'Rye loaf, wetter dough')!;
    await backend.sessions.setFolder([other.id], 'Bakery');
    expect(await screen.findByRole('button', { name: /^Rye loaf, wetter dough/ })).toBeVisible();
  });
});
