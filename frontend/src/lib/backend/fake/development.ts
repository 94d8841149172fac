import { fakeBackend, type FakeBackend, type FakeOptions } from '../fake';
import type { ErrorView } from '../types';
import { taskView } from './work';

/** Tasks of earlier runs: an import interrupted when the program ended, and a failed backup. */
function seedTasks({ tasks, store }: FakeBackend): void {
  const error: ErrorView = { code: 'no_space', op: 'backup', message: 'The disk is full: the copy needs 61 MB, 12 MB free', hint: 'Nothing was lost. Free some space and back up again.' };
  tasks.list = [
    taskView({ id: 'before1', title: 'Import claude-export.zip', state: 'interrupted', done: 1_214, total: 2_400, unit: 'sessions', startedAt: store.epoch - 3_600_000, endedAt: store.epoch - 3_000_000, resumable: true }),
    taskView({ id: 'before2', kind: 'backup', title: 'Back up', state: 'failed', done: 12_000_000, total: 61_000_000, unit: 'bytes', startedAt: store.epoch - 7_200_000, endedAt: store.epoch - 7_100_000, error }),
  ];
}

const paces: Record<string, FakeOptions['pace']> = {
  fast: { frameMs: 16, chars: 40, prepareMs: 100, syncMs: 400, commitMs: 500 },
  slow: { chars: 2 },
};

/**
 * Reads the options from the address: ?fake=rich|empty|first|fatal|locked, &theme=, &zoom=, &open=TITLE, &sessions=N,
 * &forks=N, &pace=fast|slow, &tasks=some for tasks of earlier runs, &tools=some for tool calls. The result is also
 * window.fake, for scripts that drive the page.
 */
export function developmentBackend(params: URLSearchParams): FakeBackend {
  const data = (params.get('fake') || 'rich') as FakeOptions['data'];
  const backend = fakeBackend({
    data,
    longest: 10_000,
    sessions: Number(params.get('sessions') ?? 0),
    forks: Number(params.get('forks') ?? 0),
    pace: paces[params.get('pace') ?? ''] ?? {},
    tools: params.get('tools') === 'some',
    taskMs: Number(params.get('taskMs') ?? 400),
  });
  if (params.get('tasks') === 'some') seedTasks(backend);
  const { program } = backend;
  const { startup } = program;
  startup.theme = params.get('theme') ?? 'system';
  startup.textZoom = Number(params.get('zoom') ?? 100);
  program.set('appearance.theme', startup.theme);
  program.set('appearance.text_zoom', String(startup.textZoom));
  const open = params.get('open') ?? (params.has('tools') ? 'Tools at work' : params.has('forks') ? 'Three hundred ways' : 'Orders to Postgres');
  startup.lastSession = [...backend.store.sessions.values()].find((session) => session.row.title === open)?.row.id ?? '';
  (window as unknown as { fake: FakeBackend }).fake = backend;
  return backend;
}
