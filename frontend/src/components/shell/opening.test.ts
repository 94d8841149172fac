import { screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, it } from 'vitest';
import { fakeBackend } from '$lib/backend/fake';
import { mountIn, startApp, startedApp } from '../../test/mount';
import Chat from './Chat.svelte';

it('a first conversation that could not be created keeps its error, and is created on a retry', async () => {
  localStorage.clear();
  // With the inspector open, which is closed by default.
  localStorage.setItem('contextinfinity.layout', JSON.stringify({ collapsed: { sessions: false, inspector: false } }));
  const backend = fakeBackend({ data: 'empty' });
  backend.failNext('sessions.create', { message: 'The disk is full', hint: 'Free some space.' });
  const app = await startApp(backend);
  mountIn(app, Chat, {});
  expect(screen.getByText('The disk is full')).toBeVisible();
  expect(app.toasts.list).toHaveLength(0);
  await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
  await waitFor(() => expect(app.conversation.session).not.toBeNull());
  expect(screen.queryByText('The disk is full')).not.toBeInTheDocument();
});

it('an error in the configuration file that appears while the program runs is shown over the conversation, and after it was dismissed, again if it changes', async () => {
  const { app, backend } = await startedApp({ data: 'rich' });
  mountIn(app, Chat, {});
  const title = 'The configuration file has an error';
  const setFileError = (error: string) => {
    backend.program.fileError = error;
    backend.store.changed('settings', '', '');
  };
  expect(screen.queryByText(title)).toBeNull();
  setFileError('line 3: this is not a value');
  expect(await screen.findByText(title)).toBeVisible();
  expect(screen.getByText(/line 3: this is not a value/)).toBeVisible();
  await userEvent.click(within(screen.getByText(title).closest<HTMLElement>('.notice')!).getByRole('button', { name: 'Dismiss' }));
  expect(screen.queryByText(title)).toBeNull();
  setFileError('line 4: nor is this');
  expect(await screen.findByText(/line 4: nor is this/)).toBeVisible();
  setFileError('');
  await waitFor(() => expect(screen.queryByText(title)).toBeNull());
});
