import { screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';
import { mountIn, startedApp } from '../../test/mount';
import AutostartRow from './AutostartRow.svelte';

const user = userEvent.setup();

describe('starting at sign-in', () => {
  it('shows what the system reports, also after a change elsewhere', async () => {
    const { app, backend } = await startedApp();
    mountIn(app, AutostartRow, {});
    expect(await screen.findByRole('radio', { name: 'Off' })).toBeChecked();
    await user.click(screen.getByRole('radio', { name: 'On' }));
    await waitFor(() => expect(backend.program.autostart.on).toBe(true));
    expect(screen.getByText(/^Stored in \/home\/ada/)).toBeVisible();
    backend.program.autostart = { ...backend.program.autostart, on: false };
    window.dispatchEvent(new Event('focus'));
    await waitFor(() => expect(screen.getByRole('radio', { name: 'Off' })).toBeChecked());
  });

  it('names another copy that is registered, and replaces it', async () => {
    const { app, backend } = await startedApp();
    backend.program.autostart = { ...backend.program.autostart, on: true, other: '/old/contextinfinity' };
    mountIn(app, AutostartRow, {});
    await user.click(await screen.findByRole('button', { name: 'Start this one instead' }));
    await waitFor(() => expect(screen.queryByText(/another copy/)).toBeNull());
    expect(backend.program.autostart).toMatchObject({ on: true, other: '' });
  });

  it('shows why it is not available, and errors', async () => {
    const { app, backend } = await startedApp();
    mountIn(app, AutostartRow, {});
    await screen.findByRole('radio', { name: 'On' });
    backend.failNext('settings.setAutostart', { code: 'unavailable', message: 'It could not be changed.' });
    await user.click(screen.getByRole('radio', { name: 'On' }));
    expect(await screen.findByText('It could not be changed.')).toBeVisible();
    backend.program.autostart = { on: false, other: '', place: '', reason: 'The program runs in a sandbox.' };
    window.dispatchEvent(new Event('focus'));
    expect(await screen.findByText('The program runs in a sandbox.')).toBeVisible();
    expect(screen.queryByRole('radio')).toBeNull();
  });
});
