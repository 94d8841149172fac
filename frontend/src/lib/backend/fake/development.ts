import { fakeBackend, type FakeBackend, type FakeOptions } from '../fake';

const paces: Record<string, FakeOptions['pace']> = {
  fast: { frameMs: 16, chars: 40, prepareMs: 100, syncMs: 400, commitMs: 500 },
  slow: { chars: 2 },
};

/**
 * What the address asks for: ?fake=rich|empty|first|fatal, &theme=, &zoom=, &open=TITLE, &sessions=N, &forks=N, &pace=fast|slow. Also on
 * window.fake, for scripts that drive the page.
 */
export function developmentBackend(asked: URLSearchParams): FakeBackend {
  const data = (asked.get('fake') || 'rich') as FakeOptions['data'];
  const backend = fakeBackend({
    data,
    longest: 10_000,
    sessions: Number(asked.get('sessions') ?? 0),
    forks: Number(asked.get('forks') ?? 0),
    pace: paces[asked.get('pace') ?? ''] ?? {},
  });
  const { startup } = backend.program;
  startup.theme = asked.get('theme') ?? 'system';
  startup.textZoom = Number(asked.get('zoom') ?? 100);
  const open = asked.get('open') ?? (asked.has('forks') ? 'Three hundred ways' : 'Orders to Postgres');
  startup.lastSession = [...backend.world.sessions.values()].find((session) => session.row.title === open)?.row.id ?? '';
  (window as unknown as { fake: FakeBackend }).fake = backend;
  return backend;
}
