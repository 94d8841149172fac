import { screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, test } from 'vitest';
import type { IndexStatus } from '$lib/backend/types';
import { mostAttached } from '$lib/state/memory.svelte';
import { mountWith } from '$shared/testing/harness';
import Inspector from '../inspector/Inspector.svelte';
import { dayOf, indexWords, markWords, spaceShare, startOfDay, timingWords, vectorsOf, whoSaid } from './words';

type Prepare = Parameters<typeof mountWith>[3];

async function open(prepare?: Prepare, options: Parameters<typeof mountWith>[2] = {}) {
  const mounted = await mountWith(Inspector, (app) => {
    app.inspector.select('memory');
    return {};
  }, options, prepare);
  return { ...mounted, user: userEvent.setup() };
}

const calls = (backend: { calls: { name: string; args: unknown[] }[] }, name: string) => backend.calls.filter((call) => call.name === name).map((call) => call.args);
const lines = () => within(screen.getByRole('list', { name: 'Pieces of memory' })).getAllByRole('button', { name: /, turn \d+,/ });
const field = () => screen.getByRole('searchbox', { name: 'Search memory' });
const everything = { scope: 'all', sessionId: '', branchId: '', type: '', role: '', since: 0, until: 0, text: '', offset: 0, limit: 1 };
const status = (more: Partial<IndexStatus>): IndexStatus => ({ on: true, scope: 'lineage', units: 0, spaces: [], degraded: [], ...more });

describe('the list', () => {
  test('shows what is newest first, a page at a time', async () => {
    const { user } = await open();
    await screen.findByRole('heading', { name: 'Newest first' });
    expect(lines()).toHaveLength(50);
    expect(lines()[0]).toHaveAccessibleName(/turn 148/);
    await user.click(screen.getByRole('button', { name: 'Show more' }));
    await waitFor(() => expect(lines()).toHaveLength(100));
    expect(new Set(lines().map((line) => line.getAttribute('aria-label'))).size).toBe(100);
  });

  test('arrows, Home and End move through it, Enter opens, and only one line is a tab stop', async () => {
    const { app, user } = await open();
    await screen.findByRole('heading', { name: 'Newest first' });
    field().focus();
    await user.keyboard('{ArrowDown}');
    expect(lines()[0]).toHaveFocus();
    await user.keyboard('{ArrowUp}{ArrowDown}{ArrowDown}');
    expect(lines()[2]).toHaveFocus();
    expect(lines().filter((line) => line.tabIndex === 0)).toEqual([lines()[2]]);
    await user.keyboard('{End}');
    expect(lines()[49]).toHaveFocus();
    await user.keyboard('{Home}{Enter}');
    expect(lines()[0]).toHaveAttribute('aria-expanded', 'true');
    expect(await screen.findByRole('group', { name: 'Its whole text' })).toHaveTextContent('Run the drift check on staging before I merge it.');
    expect(app.memory.opened).not.toBe('');
    await user.keyboard('{Enter}');
    expect(screen.queryByRole('group', { name: 'Its whole text' })).not.toBeInTheDocument();
  });

  test('is narrowed by type, person and day, and widened again', async () => {
    const { backend, user } = await open();
    await screen.findByRole('heading', { name: 'Newest first' });
    await user.click(screen.getByRole('button', { name: 'Filter' }));
    await user.selectOptions(screen.getByLabelText('Type'), 'code');
    await user.selectOptions(screen.getByLabelText('Who'), 'assistant');
    await waitFor(() => expect(calls(backend, 'memory.chunks').at(-1)).toMatchObject([{ type: 'code', role: 'assistant', scope: 'lineage' }]));
    await waitFor(() => expect(lines().every((line) => /^Code, /.test(line.getAttribute('aria-label') ?? ''))).toBe(true));
    await user.click(screen.getByRole('radio', { name: 'All sessions' }));
    await waitFor(() => expect(calls(backend, 'memory.chunks').at(-1)).toMatchObject([{ scope: 'all' }]));
    await user.type(screen.getByLabelText('To, that day included'), '1999-12-31');
    expect(await screen.findByText('Nothing fits the filter')).toBeInTheDocument();
    await user.click(screen.getByRole('button', { name: 'Clear the filter' }));
    await waitFor(() => expect(calls(backend, 'memory.chunks').at(-1)).toMatchObject([{ scope: 'all', type: '', role: '', until: 0 }]));
  });

  test('teaches when there is nothing', async () => {
    await open(undefined, { data: 'empty' });
    expect(await screen.findByText('Nothing is remembered here yet')).toBeInTheDocument();
    expect(screen.getByText('Nothing is indexed yet')).toBeInTheDocument();
  });

  test('a temporary chat has none', async () => {
    const { app } = await open();
    await app.newTemporary();
    expect(await screen.findByText('A temporary chat leaves nothing to inspect')).toBeInTheDocument();
    expect(screen.queryByRole('searchbox')).not.toBeInTheDocument();
  });

  test('a failure stands in the panel and is tried again', async () => {
    const { user } = await open((backend) => backend.failNext('memory.chunks', { message: 'The disk is away', hint: 'Plug it in.' }));
    expect(await screen.findByRole('alert')).toHaveTextContent('The disk is away');
    await user.click(screen.getByRole('button', { name: 'Try again' }));
    expect(await screen.findByRole('heading', { name: 'Newest first' })).toBeInTheDocument();
  });
});

describe('a search', () => {
  test('shows each hit with its rank, both scores, its words marked, and what it took', async () => {
    const { user } = await open();
    await user.type(field(), 'drift check on staging{Enter}');
    expect(await screen.findByRole('heading', { name: /found$/ })).toBeInTheDocument();
    const first = screen.getAllByRole('listitem')[0]!;
    expect(first).toHaveTextContent(/words\s*1\.00/);
    expect(first).toHaveTextContent(/meaning\s*0\.99/);
    expect(first).toHaveTextContent(/rank 1, 1\.00/);
    expect([...first.querySelectorAll('mark')].map((mark) => mark.textContent)).toEqual(['drift', 'check', 'on', 'staging']);
    expect(screen.getByText(/in 3\.4.ms: words 1\.9, meaning 1\.1, embedding 0\.2/)).toBeInTheDocument();
  });

  test('that finds nothing says what to try, and cleared it is the list again', async () => {
    const { user } = await open();
    await user.type(field(), 'zygomorphic');
    expect(await screen.findByText('Nothing like that was said here')).toBeInTheDocument();
    await user.clear(field());
    expect(await screen.findByRole('heading', { name: 'Newest first' })).toBeInTheDocument();
  });

  test('asked for from elsewhere shows the tab with it', async () => {
    const { app } = await open();
    app.inspector.select('state');
    app.memory.search('drift check');
    expect(await screen.findByRole('heading', { name: /found$/ })).toBeInTheDocument();
    expect(field()).toHaveValue('drift check');
  });

  test('by words alone says so', async () => {
    const { backend, user } = await open();
    const [chunk] = (await backend.memory.chunks(everything)).chunks;
    const hit = { chunk: chunk!, rank: 1, score: 0.4, cosine: 0, similarity: 0, bm25: 2, keyword: 1 };
    backend.memory.search = async () => ({ hits: [hit], candidates: 4, embedder: '', warning: 'The embedding server does not answer.', totalMs: 2, embedMs: 0, vectorMs: 0, keywordMs: 1.9 });
    await user.type(field(), 'drift{Enter}');
    expect(await screen.findByText('The embedding server does not answer.')).toBeInTheDocument();
    expect(screen.getByText(/in 2\.0.ms: words 1\.9$/)).toBeInTheDocument();
    expect(screen.getAllByRole('listitem')[0]).toHaveTextContent(/meaning\s*none/);
  });
});

describe('a piece', () => {
  test('leads to its turn, on this branch and in another session', async () => {
    const { app, user } = await open();
    await user.type(field(), 'drift check on staging{Enter}');
    await screen.findByRole('heading', { name: /found$/ });
    await user.click(lines()[0]!);
    await user.click(await screen.findByRole('button', { name: /^Go to #/ }));
    await waitFor(() => expect(app.conversation.turns.find((turn) => turn.id === app.conversation.intent.turnId)?.seq).toBe(148));

    const here = app.conversation.sessionId;
    app.memory.narrow({ scope: 'all' });
    app.memory.query = '';
    await waitFor(() => expect(screen.getAllByText(/^in “/).length).toBeGreaterThan(0));
    const other = lines().find((line) => line.querySelector('.from') !== null)!;
    await user.click(other);
    await user.click(await screen.findByRole('button', { name: /^Go to #/ }));
    await waitFor(() => expect(app.conversation.sessionId).not.toBe(here));
    await waitFor(() => expect(app.conversation.turns.some((turn) => turn.id === app.conversation.intent.turnId)).toBe(true));
  });

  test('is attached once, and says so', async () => {
    const { app, user } = await open();
    await screen.findByRole('heading', { name: 'Newest first' });
    const asked = app.composer.focusAsked;
    await user.click(lines()[0]!);
    await user.click(await screen.findByRole('button', { name: 'Attach to next message' }));
    expect(await screen.findByRole('button', { name: 'Attached' })).toBeDisabled();
    expect(app.draft.memories).toMatchObject([{ id: app.memory.opened }]);
    expect(app.composer.focusAsked).toBeGreaterThan(asked);
    await app.memory.attach(app.memory.opened);
    expect(app.draft.memories).toHaveLength(1);
  });

  test('is refused where a message has as many as it takes', async () => {
    const { app } = await open();
    const chip = (id: string) => ({ id, label: 'x', title: 'y' });
    app.draft.memories = Array.from({ length: mostAttached }, (_, i) => chip(`c${i}`));
    await app.memory.attach('another');
    expect(await screen.findByText(`A message takes at most ${mostAttached} pieces of memory`)).toBeInTheDocument();
    expect(app.draft.memories).toHaveLength(mostAttached);
  });

  test('that is gone says so, and nothing is attached', async () => {
    const { app } = await open();
    await app.memory.attach('no such chunk');
    expect(await screen.findByText('This piece of memory is not there any more')).toBeInTheDocument();
    expect(app.draft.memories).toEqual([]);
    expect(app.memory.attaching).toBe('');
  });

  test('opened from elsewhere stands above a list that does not hold it, and its use opens the X-ray', async () => {
    const { app, backend, user } = await open();
    const old = (await backend.memory.chunks({ ...everything, scope: 'lineage', branchId: app.conversation.branchId, offset: 200 })).chunks[0]!;
    const detail = await backend.memory.chunk(old.id);
    backend.memory.chunk = async () => ({ ...detail, uses: [{ turnId: old.turnId, turnSeq: old.turnSeq, sessionId: old.sessionId, rank: 2, score: 0.5, form: 'full', at: old.at }] });
    app.memory.open(old.id);
    await user.click(await screen.findByRole('button', { name: `turn ${old.turnSeq}, rank 2` }));
    expect(app.inspector.tab).toBe('xray');
    expect(app.inspector.seen).toBe(old.turnId);
  });
});

describe('the index', () => {
  test('that is being made again says how far it is, and goes on by itself', async () => {
    let done = 430;
    const { backend } = await open((prepared) => {
      prepared.memory.status = async () => status({ units: 1000, spaces: [
        { embedder: 'local/hashed/256/v1', state: 'serving', done: 1000, total: 1000, error: '' },
        { embedder: 'openai/text-embedding-3-small/1536', state: 'building', done, total: 1000, error: '' },
      ] });
    });
    const bar = await screen.findByRole('progressbar', { name: 'Vectors made by openai/text-embedding-3-small/1536' });
    expect(bar).toHaveAttribute('aria-valuenow', '430');
    done = 999;
    backend.world.changed('reindex', '', '');
    await waitFor(() => expect(bar).toHaveAttribute('aria-valuenow', '999'));
    expect(screen.getByText(/99.%/)).toBeInTheDocument();
  });

  test('a turn that could not be indexed is named, and retried', async () => {
    const { backend, user } = await open((prepared) => {
      prepared.memory.status = async () => status({ units: 3, degraded: [{ turnId: 't1', turnSeq: 31, sessionId: 's', title: 'What of the lag?', jobId: 77, error: 'No answer' }] });
    });
    await user.click(await screen.findByRole('button', { name: 'Index turn 31 again' }));
    expect(calls(backend, 'inspect.retryJob')).toEqual([[77]]);
  });
});

describe('words', () => {
  const local = { embedder: 'local/hashed/256/v1', state: 'serving', done: 12_840, total: 12_840, error: '' };

  test.each([
    [status({}), 'Nothing is indexed yet'],
    [status({ units: 12_840, spaces: [local] }), '12\u202f840 passages, local vectors complete'],
    [status({ units: 1 }), '1 passage, found by their words alone'],
    [status({ units: 12_840, spaces: [{ ...local, done: 12 }] }), '12\u202f840 passages, local vectors of 12'],
    [status({ units: 5, spaces: [local, { ...local, embedder: 'ollama/nomic/768', state: 'building' }] }), '5 passages, local vectors complete, reindexing for ollama nomic'],
    [status({ on: false, units: 5, spaces: [local] }), '5 passages, local vectors complete. Memory is off: no turn is given any of it'],
  ])('of the index %#', (index, words) => expect(indexWords(index)).toBe(words));

  test('a share is whole only when all is made', () => {
    expect(spaceShare({ done: 999, total: 1000 })).toBe(99);
    expect(spaceShare({ done: 1000, total: 1000 })).toBe(100);
    expect(spaceShare({ done: 0, total: 0 })).toBe(100);
  });

  test('marks whole words, in any case and script', () => {
    expect(markWords('Der Größe nach, GRÖSSE und größe.', 'größe x').filter((piece) => piece.marked).map((piece) => piece.text)).toEqual(['Größe', 'größe']);
    expect(markWords('<b>on-call</b> plan', 'on call').map((piece) => piece.text).join('')).toBe('<b>on-call</b> plan');
    expect(markWords('nothing', '')).toEqual([{ text: 'nothing', marked: false }]);
  });

  test('days are whole, in the user’s zone', () => {
    const start = startOfDay('2026-03-29');
    expect(dayOf(start)).toBe('2026-03-29');
    expect(dayOf(startOfDay('2026-03-29', 1) - 1)).toBe('2026-03-29');
    expect(startOfDay('2026-3')).toBe(0);
    expect(dayOf(0)).toBe('');
  });

  test('people, vectors and times', () => {
    expect(whoSaid({ speaker: 'Mira', role: 'user' })).toBe('Mira');
    expect(whoSaid({ speaker: '', role: 'assistant' })).toBe('the model');
    expect(vectorsOf('local/hashed/256/v1')).toBe('local');
    expect(timingWords({ hits: [], candidates: 1, embedder: '', warning: '', totalMs: 31.4, embedMs: 0, vectorMs: 0, keywordMs: 2.04 })).toBe('of 1 in 31\u202fms: words 2.0');
  });
});
