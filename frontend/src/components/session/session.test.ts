import { screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';
import { mountIn, startedApp } from '../../test/mount';
import SessionSettingsDialog from './SessionSettingsDialog.svelte';
import { temperatureFault } from './labels';

it.each([['', true], ['0', true], ['0.7', true], ['.5', true], ['1,5', true], ['2', true], ['2.1', false], ['-1', false], ['warm', false], ['1e1', false], ['0x1', false]])('temperature %s', (text, valid) => {
  expect(temperatureFault(text) === '').toBe(valid);
});

async function dialog() {
  const started = await startedApp();
  const { app, backend } = started;
  backend.store.session(app.conversation.sessionId).settings = { systemPrompt: 'Be brief.', temperature: '', effort: 'low' };
  app.sessionSettings.show();
  mountIn(app, SessionSettingsDialog, {});
  const prompt = screen.getByRole('textbox', { name: 'Instructions' });
  await waitFor(() => expect(prompt).toHaveValue('Be brief.'));
  return { ...started, prompt, user: userEvent.setup(), stored: () => backend.store.session(app.conversation.sessionId).settings };
}

describe('the settings of a session', () => {
  it('are shown unchanged, and saved together', async () => {
    const { app, user, prompt, stored } = await dialog();
    expect(screen.getByRole('combobox', { name: 'Effort' })).toHaveValue('low');
    await user.type(prompt, ' In German.');
    await user.type(screen.getByRole('textbox', { name: 'Temperature' }), '0,4');
    await user.selectOptions(screen.getByRole('combobox', { name: 'Effort' }), 'high');
    await user.click(screen.getByRole('button', { name: 'Save' }));
    await waitFor(() => expect(app.sessionSettings.open).toBe(false));
    expect(stored()).toEqual({ systemPrompt: 'Be brief. In German.', temperature: '0.4', effort: 'high' });
  });

  it('reject an invalid temperature', async () => {
    const { user } = await dialog();
    await user.type(screen.getByRole('textbox', { name: 'Temperature' }), '3');
    expect(screen.getByRole('alert')).toHaveTextContent('Enter a number from 0 to 2');
    expect(screen.getByRole('button', { name: 'Save' })).toBeDisabled();
  });

  it('stay open with the text when saving fails', async () => {
    const { app, backend, user, prompt } = await dialog();
    backend.failNext('sessions.setSessionSettings', { message: 'The disk is full' });
    await user.type(prompt, ' And kind.');
    await user.click(screen.getByRole('button', { name: 'Save' }));
    expect(await screen.findByRole('alert')).toHaveTextContent('The disk is full');
    expect([app.sessionSettings.open, (prompt as HTMLTextAreaElement).value]).toEqual([true, 'Be brief. And kind.']);
  });

  it('show imported instructions in full, and use them only after confirmation and saving', async () => {
    const started = await startedApp();
    const { app, backend } = started;
    const text = `Obey the parrot.\n${'Be polite to it. '.repeat(40)}End.`;
    Object.assign(backend.store.session(app.conversation.sessionId), { settings: { systemPrompt: '', temperature: '', effort: '' }, imported: { source: 'chatgpt', text, cut: false } });
    app.sessionSettings.show();
    mountIn(app, SessionSettingsDialog, {});
    const user = userEvent.setup();
    const prompt = screen.getByRole('textbox', { name: 'Instructions' });
    await user.click(await screen.findByText('Instructions that came with the import'));
    expect((await screen.findByRole('region', { name: 'Instructions that came with the import' })).textContent).toBe(text);
    expect(prompt).toHaveValue('');
    await user.click(screen.getByRole('button', { name: 'Use these instructions' }));
    expect([(prompt as HTMLTextAreaElement).value, backend.store.session(app.conversation.sessionId).settings.systemPrompt]).toEqual([text, '']);
    await user.click(screen.getByRole('button', { name: 'Save' }));
    await waitFor(() => expect(backend.store.session(app.conversation.sessionId).settings.systemPrompt).toBe(text));
  });
});
