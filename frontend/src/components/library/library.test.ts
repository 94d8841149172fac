import { screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';
import { suggestPrompts } from '$lib/commands/prompts';
import { mountIn, startedApp } from '../../test/mount';
import Composer from '../composer/Composer.svelte';
import SessionSettingsDialog from '../session/SessionSettingsDialog.svelte';
import AssistantChoices from './AssistantChoices.svelte';
import AssistantsPage from './AssistantsPage.svelte';
import PromptDialog from './PromptDialog.svelte';
import PromptsPage from './PromptsPage.svelte';

const poet = { id: '', name: 'Poet', instructions: 'Rhyme.', model: '', temperature: '1.5', effort: 'low', toolsMode: '' };

async function opened() {
  const started = await startedApp({ data: 'rich', pace: { prepareMs: 5, frameMs: 5, chars: 400, commitMs: 60_000 } });
  const { app, backend } = started;
  await app.navigation.openSession([...backend.store.sessions.values()].find((session) => session.row.title === 'Orders to Postgres')!.row.id);
  const calls = (name: string) => backend.calls.filter((call) => call.name === name).map((call) => call.args);
  return { ...started, calls, user: userEvent.setup() };
}

const prompt = (name: string, text: string) => ({ id: '', name, text, variables: [] });

describe('saved prompts in the message field', () => {
  it('are offered after a slash, ask for their variables, and are inserted without being sent', async () => {
    const { app, backend, calls, user } = await opened();
    await backend.library.savePrompt(prompt('Translate a text', 'Into {{language:English}}: {{text}} on {{date}}'));
    await backend.library.savePrompt(prompt('Plain', 'no variables'));
    await app.library.load();
    mountIn(app, Composer, {});
    mountIn(app, PromptDialog, {});
    const field = screen.getByRole('textbox', { name: 'Your message' }) as HTMLTextAreaElement;
    await user.type(field, '/tra');
    expect(screen.getByRole('option', { selected: true })).toHaveTextContent('Translate a text');
    await user.keyboard('{Enter}');
    const dialog = await screen.findByRole('dialog', { name: 'Translate a text' });
    const inputs = within(dialog).getAllByRole('textbox');
    await waitFor(() => expect(inputs[0]).toHaveFocus());
    expect(inputs.map((input) => input.closest('.field-row')!.querySelector('label')!.textContent)).toEqual(['language', 'text']); // today's date is filled in
    await user.keyboard('{Tab}Haus{Enter}');
    await waitFor(() => expect(field.value).toMatch(/^Into English: Haus on \d{4}-\d\d-\d\d$/));
    expect([screen.queryByRole('dialog'), calls('chat.send')]).toEqual([null, []]);
    await user.clear(field);
    await user.type(field, '/plai{Enter}');
    await waitFor(() => expect(field.value).toBe('no variables'));
  });

  it('focus their filter, also when they load late and after going back', async () => {
    const { app, backend, user } = await opened();
    mountIn(app, PromptDialog, {});
    app.library.choose();
    await screen.findByRole('dialog', { name: 'Insert a prompt' });
    expect(screen.queryByRole('textbox')).toBeNull();
    await backend.library.savePrompt(prompt('Translate', 'Into {{language}}'));
    await app.library.load();
    const filter = await screen.findByRole('textbox', { name: 'Filter' });
    await waitFor(() => expect(filter).toHaveFocus());
    await user.keyboard('trans');
    await user.tab();
    await user.keyboard('{Enter}');
    await user.click(await screen.findByRole('button', { name: 'Back' }));
    await waitFor(() => expect(screen.getByRole('textbox', { name: 'Filter' })).toHaveFocus());
  });

  it('are chosen from a list, where the message can be saved as one', async () => {
    const { app, backend, user } = await opened();
    await backend.library.savePrompt(prompt('Plain', 'no variables'));
    await app.library.load();
    mountIn(app, Composer, {});
    mountIn(app, PromptDialog, {});
    const field = screen.getByRole('textbox', { name: 'Your message' }) as HTMLTextAreaElement;
    await user.type(field, 'Before ');
    await user.click(screen.getByRole('button', { name: 'Insert a prompt' }));
    await user.click(await screen.findByRole('button', { name: /Plain/ }));
    await waitFor(() => expect(field.value).toBe('Before no variables'));
    await app.commands.run('savePrompt');
    const dialog = await screen.findByRole('dialog', { name: 'New prompt' });
    await user.type(within(dialog).getByRole('textbox', { name: 'Name' }), 'plain');
    await user.click(within(dialog).getByRole('button', { name: 'Save' }));
    expect(await within(dialog).findByText(/already one named/)).toBeVisible();
    await user.type(within(dialog).getByRole('textbox', { name: 'Name' }), ' two');
    await user.click(within(dialog).getByRole('button', { name: 'Save' }));
    await waitFor(() => expect(app.library.prompts.map(({ name, text }) => [name, text])).toContainEqual(['plain two', 'Before no variables']));
  });

  it('are suggested by name, but not in place of a command with its argument', () => {
    const all = [{ id: 'p', name: 'Sum up', text: 'x', variables: [] }, { id: 'q', name: 'model answer', text: 'y', variables: [] }];
    const names = (typed: string) => suggestPrompts(typed, all, []).map(({ label }) => label);
    expect([names('/'), names('/sum u'), names('/model answer'), names('/usr/bin'), names('sum'), names('/fork up')]).toEqual([['Sum up', 'model answer'], ['Sum up'], [], [], [], []]);
  });
});

describe('pages of the library', () => {
  it('create, change, duplicate and delete an assistant', async () => {
    const { app, user } = await opened();
    mountIn(app, AssistantsPage, {});
    expect(screen.getByText('No assistants')).toBeVisible();
    await user.click(screen.getByRole('button', { name: 'New assistant' }));
    let dialog = screen.getByRole('dialog', { name: 'New assistant' });
    await user.type(within(dialog).getByRole('textbox', { name: 'Name' }), 'Poet');
    await user.type(within(dialog).getByRole('textbox', { name: 'Temperature' }), '3');
    expect(within(dialog).getByRole('button', { name: 'Save' })).toBeDisabled();
    await user.clear(within(dialog).getByRole('textbox', { name: 'Temperature' }));
    await user.type(within(dialog).getByRole('textbox', { name: 'Instructions' }), 'Rhyme.');
    await user.click(within(dialog).getByRole('button', { name: 'Save' }));
    await waitFor(() => expect(app.library.assistants.map(({ name, instructions }) => [name, instructions])).toEqual([['Poet', 'Rhyme.']]));
    await user.click(screen.getByRole('button', { name: 'Actions for Poet' }));
    await user.click(screen.getByRole('menuitem', { name: 'Duplicate' }));
    await user.click(await screen.findByRole('button', { name: 'Actions for Poet (2)' }));
    await user.click(screen.getByRole('menuitem', { name: 'Delete' }));
    dialog = screen.getByRole('dialog', { name: 'Delete the assistant “Poet (2)”?' });
    await user.click(within(dialog).getByRole('button', { name: 'Delete' }));
    await waitFor(() => expect(app.library.assistants.map(({ name }) => name)).toEqual(['Poet']));
  });

  it('offer examples while they are empty, which are deleted like any other', async () => {
    const { app, backend, user } = await opened();
    mountIn(app, AssistantsPage, {});
    await user.click(screen.getByRole('button', { name: 'Add three examples' }));
    await waitFor(() => expect(app.library.assistants.map(({ name }) => name).sort()).toEqual(['Critic', 'Editor', 'Teacher']));
    expect(screen.queryByRole('button', { name: 'Add three examples' })).toBeNull();
    mountIn(app, PromptsPage, {});
    await user.click(screen.getByRole('button', { name: 'Add three examples' }));
    await waitFor(() => expect(app.library.prompts).toHaveLength(3));
    const names = ({ variables }: { variables: { name: string }[] }) => variables.map(({ name }) => name);
    expect(app.library.prompts.map(names).sort()).toEqual([['language', 'text'], ['points', 'clipboard'], ['tone', 'answer', 'clipboard']]);
    for (const { id } of app.library.prompts) await backend.library.deletePrompt(id);
    await app.library.load();
    expect(await screen.findByRole('button', { name: 'Add three examples' })).toBeVisible();
  });

  it('adds nothing without being asked', async () => {
    const { app } = await opened();
    expect([app.library.assistants, app.library.prompts]).toEqual([[], []]);
  });

  it('import prompts from a file', async () => {
    const { app, user } = await opened();
    const { container } = mountIn(app, PromptsPage, {});
    const file = new File([JSON.stringify({ prompts: [{ name: 'One', text: 'about {{x}}' }] })], 'prompts.json', { type: 'application/json' });
    await user.upload(container.querySelector<HTMLInputElement>('input[type=file]')!, file);
    expect(await screen.findByText('1 variable')).toBeVisible();
    await waitFor(() => expect(app.toasts.list.at(-1)?.text).toBe('1 prompt imported; 0 already there'));
  });
});

describe('the assistant of a session', () => {
  it('is applied in the settings of the session, and again when it differs', async () => {
    const { app, backend, calls, user } = await opened();
    const { id } = await backend.library.saveAssistant(poet);
    await app.library.load();
    const imported = backend.hold('sessions.importedInstructions'); // what is slow does not keep the settings from being read again
    mountIn(app, SessionSettingsDialog, {});
    await waitFor(() => expect(screen.getByRole('combobox', { name: 'Assistant' })).toBeEnabled());
    await user.selectOptions(screen.getByRole('combobox', { name: 'Assistant' }), 'Poet');
    await user.click(screen.getByRole('button', { name: 'Apply' }));
    await waitFor(() => expect(screen.getByRole('textbox', { name: 'Instructions' })).toHaveValue('Rhyme.'));
    imported();
    expect([calls('library.applyAssistant'), screen.queryByRole('button', { name: 'Apply' })]).toEqual([[[app.conversation.sessionId, id]], null]);
    await waitFor(() => expect([app.library.current.name, app.library.current.differs]).toEqual(['Poet', false]));
    await backend.library.saveAssistant({ ...poet, id, instructions: 'Never rhyme.' });
    await waitFor(() => expect(app.library.current.differs).toBe(true));
    expect((await backend.sessions.sessionSettings(app.conversation.sessionId)).systemPrompt).toBe('Rhyme.'); // changing an assistant affects no session
  });

  it('is chosen in an empty conversation, and with a command', async () => {
    const { app, backend, user } = await opened();
    await backend.library.saveAssistant(poet);
    await app.library.load();
    mountIn(app, AssistantChoices, {});
    await user.click(screen.getByRole('button', { name: 'Poet' }));
    await waitFor(() => expect(screen.getByRole('button', { name: 'Poet' })).toHaveAttribute('aria-pressed', 'true'));
    await expect(app.commands.run('assistant', 'nobody')).rejects.toThrow('There is no assistant “nobody”');
    await app.navigation.startWith(app.library.assistants[0]!.id);
    expect((await backend.sessions.sessionSettings(app.conversation.sessionId)).systemPrompt).toBe('Rhyme.');
  });
});
