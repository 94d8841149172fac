import { screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it, vi } from 'vitest';
import { fakeBackend } from '$lib/backend/fake';
import { mountIn, startApp } from '../../test/mount';
import { onWindowKey } from './keys';
import Shell from './Shell.svelte';

async function quick(backend = fakeBackend({ data: 'rich' })) {
  backend.program.startup.quick = true;
  const app = await startApp(backend);
  app.layout.measured(42);
  mountIn(app, Shell, {});
  return { app, backend };
}

describe('the small window', () => {
  it('begins with a session of its own, in a folder, and reuses an unused one', async () => {
    const { app, backend } = await quick();
    const id = app.conversation.sessionId;
    expect(app.sessions.find(id)).toMatchObject({ folder: 'Quick ask', turns: 0 });
    expect(screen.getByRole('heading', { name: 'Quick ask' })).toBeVisible();
    const restarted = await startApp(backend);
    expect(restarted.conversation.sessionId).toBe(id);
  });

  it('continues in the main window, and closes', async () => {
    const { app, backend } = await quick();
    const leave = vi.spyOn(app.backend, 'leaveWindow');
    await userEvent.click(screen.getByRole('button', { name: 'Continue in the window' }));
    await waitFor(() => expect(leave).toHaveBeenCalled());
    expect(backend.calls.filter(({ name }) => name === 'work.showInFirst').map(({ args }) => args)).toEqual([[app.conversation.sessionId]]);
  });

  it('closes with Esc when no answer is arriving', async () => {
    const { app } = await quick();
    const leave = vi.spyOn(app.backend, 'leaveWindow');
    onWindowKey(app, new KeyboardEvent('keydown', { key: 'Escape' }));
    await waitFor(() => expect(leave).toHaveBeenCalledOnce());
  });
});
