import { describe, expect, it, vi } from 'vitest';
import { fakeBackend } from '$lib/backend/fake';
import type { SessionRow, Startup } from '$lib/backend/types';
import { Changes } from './changes';
import { SessionsState } from './sessions.svelte';
import { ThemeState } from './theme.svelte';
import { ToastsState } from './toasts.svelte';
import { UndoState } from './undo.svelte';

// Replies and writes that arrive out of order.

describe('the session list', () => {
  it('shows the result of the last query, in whichever order they return', async () => {
    const answers = new Map<string, (rows: SessionRow[]) => void>();
    const backend = fakeBackend({ data: 'empty' });
    const list = (_: boolean, filter: string) => new Promise<SessionRow[]>((answer) => answers.set(filter, answer));
    const toasts = new ToastsState();
    const sessions = new SessionsState({ ...backend, sessions: { ...backend.sessions, list } }, new Changes(backend), toasts, new UndoState(toasts));
    const loaded = sessions.load();
    sessions.filter = 'rye';
    await vi.waitFor(() => expect(answers.has('rye')).toBe(true));
    answers.get('rye')!([{ id: 'rye' } as SessionRow]);
    await vi.waitFor(() => expect(sessions.list.map(({ id }) => id)).toEqual(['rye']));
    answers.get('')!([{ id: 'all' } as SessionRow]);
    await loaded;
    expect(sessions.list.map(({ id }) => id)).toEqual(['rye']);
    sessions.stop();
  });
});

describe('a slider that is dragged', () => {
  it('saves its last value in the configuration', async () => {
    const backend = fakeBackend({ data: 'empty' });
    const saved: string[] = [];
    let slow = true;
    const set = async (_: string, value: string) => {
      const wait = slow ? 30 : 0; // the first one takes longest
      slow = false;
      await new Promise((done) => setTimeout(done, wait));
      saved.push(value);
      return backend.settings.settings();
    };
    const theme = new ThemeState({ ...backend, settings: { ...backend.settings, set } }, new ToastsState());
    theme.adopt({ theme: 'light', textZoom: 100, codeSize: 100, messageWidth: 'normal', motion: 'system' } as Startup);
    await Promise.all([theme.setZoom(110), theme.setZoom(120), theme.setZoom(130)]);
    expect(saved).toEqual(['110', '120', '130']);
    theme.stop();
  });
});
