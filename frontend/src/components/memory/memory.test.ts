import { screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { tick } from 'svelte';
import { describe, expect, test } from 'vitest';
import type { ChunkRow, IndexSpace, IndexStatus, MemoryFilter } from '$lib/backend/types';
import type { FakeBackend } from '$lib/backend/fake';
import { maxAttached } from '$lib/state/memory.svelte';
import { mountWith } from '$shared/testing/harness';
import Inspector from '../inspector/Inspector.svelte';
import { chooseLanguage } from '$lib/i18n/i18n.svelte';
import { chipLabel, dayOf, embedderName, factsOf, fromMatch, indexText, isBeginning, markWords, readable, spaceShare, startOfDay, tagOf, timingText, whoSaid } from './labels';

type Prepare = Parameters<typeof mountWith>[3];

async function open(prepare?: Prepare, options: Parameters<typeof mountWith>[2] = {}) {
  const mounted = await mountWith(Inspector, (app) => {
    app.inspector.select('memory');
    return {};
  }, options, prepare);
  return { ...mounted, user: userEvent.setup() };
}

const calls = (backend: { calls: { name: string; args: unknown[] }[] }, name: string) => backend.calls.filter((call) => call.name === name).map((call) => call.args);
const lines = () => [...document.querySelectorAll<HTMLElement>('[data-line]')]; // querying 150 buttons by role takes seconds in jsdom
const field = () => screen.getByRole('searchbox', { name: 'Search memory' });
/** Searches, and waits for the results of the complete query: a slow machine first shows those of its beginning. */
async function search(user: ReturnType<typeof userEvent.setup>, backend: FakeBackend, query: string) {
  await user.type(field(), `${query}{Enter}`);
  await waitFor(() => expect(calls(backend, 'memory.search').at(-1)?.[1]).toBe(query));
  await waitFor(() => expect(screen.getByLabelText('Memory', { selector: '.scroll' })).toHaveAttribute('aria-busy', 'false'));
  await screen.findByText(/\d results?$/);
}
const everything = { scope: 'all', sessionId: '', branchId: '', type: '', role: '', since: 0, until: 0, text: '', offset: 0, limit: 1 };
const status = (more: Partial<IndexStatus>): IndexStatus => ({ on: true, scope: 'lineage', units: 0, spaces: [], degraded: [], ...more });

describe('the list', () => {
  test('Esc only clears the search; in an empty field the window handles it', async () => {
    const { user, app } = await open();
    const prevented: boolean[] = [];
    const onKeyDown = (event: KeyboardEvent) => event.key === 'Escape' && prevented.push(event.defaultPrevented);
    addEventListener('keydown', onKeyDown);
    await user.type(field(), 'lag{Escape}');
    expect([app.memory.query, prevented]).toEqual(['', [true]]);
    await user.keyboard('{Escape}');
    expect(prevented).toEqual([true, false]);
    removeEventListener('keydown', onKeyDown);
  });

  test('shows the newest first, one page at a time', async () => {
    const { user } = await open();
    await screen.findByText('Newest first');
    expect(lines()).toHaveLength(50);
    expect(lines()[0]).toHaveAccessibleName(/#148/);
    await user.click(screen.getByRole('button', { name: 'Show more' }));
    await waitFor(() => expect(lines()).toHaveLength(100));
    expect(new Set(lines().map((line) => line.getAttribute('aria-label'))).size).toBe(100);
  });

  test('arrows, Home and End move through it, Enter expands, and only one row is a tab stop', async () => {
    const { app, user } = await open();
    await screen.findByText('Newest first');
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
    expect(await screen.findByRole('group', { name: 'Full text' })).toHaveTextContent('Run the drift check on staging before I merge it.');
    expect(app.memory.opened).not.toBe('');
    await user.keyboard('{Enter}');
    expect(screen.queryByRole('group', { name: 'Full text' })).not.toBeInTheDocument();
  });

  test.each([
    ['prose', false, '', 'Begin with **the backfill**, and `**kwargs`', 'Begin with the backfill, and **kwargs'],
    ['prose around code', true, '', 'Run **this**:\n```py\nf(**a, **b)\n```', 'Run this:\nf(**a, **b)\n'],
    ['source', true, '', 'f(**a, **b)', 'f(**a, **b)'],
    ['a document of source', false, 'run.py', 'f(**a, **b)', 'f(**a, **b)'],
    ['a document of Markdown', false, 'notes.md', 'It is **late**.', 'It is late.'],
  ])('an expanded card shows %s without Markdown syntax, and source code unchanged', (_, code, document, text, shown) => {
    expect(readable(text, code, document)).toBe(shown);
  });

  test.each([
    ['About the **backfill**: measure first, …', true],
    ['About the backfill: measure first, and write it down.', true],
    ['The backfill needs measuring.', false],
  ])('hides a summary that repeats the beginning of its text: %s', (summary, hidden) => {
    expect(isBeginning(summary, 'About **the backfill**: measure first,\n\nand write it down.')).toBe(hidden);
  });

  test('an expanded card shows no Markdown syntax', async () => {
    const { backend, user } = await open();
    await screen.findByText('Newest first');
    const { chunks } = await backend.memory.chunks({ ...everything, limit: 1 } as MemoryFilter);
    const chunk = { ...chunks[0]!, type: 'other' as const, document: '', summary: '**Late** at night' };
    backend.memory.chunk = async () => ({ chunk, text: 'About **the backfill**: measure first.', start: 0, end: 1, embedders: [], uses: [] });
    await user.click(lines()[0]!);
    const text = await screen.findByRole('group', { name: 'Full text' });
    expect(text.textContent).toBe('About the backfill: measure first.');
    expect(screen.getByText('Late at night')).toBeVisible();
  });

  test('can be filtered by type, speaker and day', async () => {
    const { backend, user } = await open();
    await screen.findByText('Newest first');
    await user.click(screen.getByRole('button', { name: 'Filter' }));
    await user.selectOptions(screen.getByLabelText('Type'), 'code');
    await user.selectOptions(screen.getByLabelText('Who'), 'assistant');
    await waitFor(() => expect(calls(backend, 'memory.chunks').at(-1)).toMatchObject([{ type: 'code', role: 'assistant', scope: 'lineage' }]));
    await waitFor(() => expect(lines().every((line) => /: Code, /.test(line.getAttribute('aria-label') ?? ''))).toBe(true));
    await user.click(screen.getByRole('radio', { name: 'All sessions' }));
    await waitFor(() => expect(calls(backend, 'memory.chunks').at(-1)).toMatchObject([{ scope: 'all' }]));
    await user.type(screen.getByLabelText('To (inclusive)'), '1999-12-31');
    expect(await screen.findByText('No memory matches the filters')).toBeInTheDocument();
    await user.click(screen.getByRole('button', { name: 'Clear filters' }));
    await waitFor(() => expect(calls(backend, 'memory.chunks').at(-1)).toMatchObject([{ scope: 'all', type: '', role: '', until: 0 }]));
  });

  test('explains itself when it is empty', async () => {
    await open(undefined, { data: 'empty' });
    expect(await screen.findByText('No memories yet')).toBeInTheDocument();
    expect(screen.getByText('Nothing is indexed yet')).toBeInTheDocument();
  });

  test('a temporary chat has none', async () => {
    const { app } = await open();
    await app.navigation.newTemporary();
    expect(await screen.findByText('A temporary chat has nothing to inspect')).toBeInTheDocument();
    expect(screen.queryByRole('searchbox')).not.toBeInTheDocument();
  });

  test('shows a failure in the panel, with a retry', async () => {
    const { user } = await open((backend) => backend.failNext('memory.chunks', { message: 'The disk is not connected', hint: 'Plug it in.' }));
    expect(await screen.findByRole('alert')).toHaveTextContent('The disk is not connected');
    await user.click(screen.getByRole('button', { name: 'Try again' }));
    expect(await screen.findByText('Newest first')).toBeInTheDocument();
  });
});

describe('a search', () => {
  test('shows each result with its text, speaker, time and one score; the rest on demand', async () => {
    const { backend, user } = await open();
    await search(user, backend, 'drift check on staging');
    const first = document.querySelector<HTMLElement>('ul[aria-label="Memories"] > li')!;
    expect(first.textContent?.trim()).toMatch(/^Run the drift check on staging before I merge it\./);
    expect(first).toHaveTextContent(/you · #148 · \d+/);
    expect(first).toHaveTextContent(/Match\s*100.%/);
    expect([...first.querySelectorAll('mark')].map((mark) => mark.textContent)).toEqual(['drift', 'check', 'on', 'staging']);
    expect(screen.queryByText(/Matched/)).not.toBeInTheDocument();
    await user.click(lines()[0]!);
    expect(await within(first).findByText(/Matched: drift, check, on, staging · more similar than 97 % of unrelated text\. Result 1\./)).toBeInTheDocument();
  });

  test('without results suggests what to try; clearing it shows the list again', async () => {
    const { user } = await open();
    await user.type(field(), 'zygomorphic');
    expect(await screen.findByText('No results')).toBeInTheDocument();
    await user.clear(field());
    expect(await screen.findByText('Newest first')).toBeInTheDocument();
  });

  test('started elsewhere shows the tab with it', async () => {
    const { app } = await open();
    app.inspector.select('state');
    app.memory.search('drift check');
    expect(await screen.findByText(/\d results?$/)).toBeInTheDocument();
    expect(field()).toHaveValue('drift check');
  });

  test('by words only says so', async () => {
    const { backend, user } = await open();
    const [chunk] = (await backend.memory.chunks(everything)).chunks;
    const hit = { chunk: chunk!, rank: 1, score: 0.4, match: { words: ['drift'], similarity: null, role: 'user', reason: 'Matched: drift.' } };
    backend.memory.search = async () => ({ hits: [hit], candidates: 4, embedder: '', warning: 'The embedding server does not answer.', totalMs: 2, embedMs: 0, vectorMs: 0, keywordMs: 1.9 });
    await user.type(field(), 'drift{Enter}');
    expect(await screen.findByText('The embedding server does not answer.')).toBeInTheDocument();
    expect(screen.getByTitle(/in 2\.0.ms: words 1\.9$/)).toBeInTheDocument();
    expect(document.querySelector('ul[aria-label="Memories"] > li')).toHaveTextContent(/40.%/);
  });
});

describe('a memory', () => {
  test('opens its turn, on this branch and in another session', async () => {
    const { app, backend, user } = await open();
    await search(user, backend, 'drift check on staging');
    await user.click(lines()[0]!);
    await user.click(await screen.findByRole('button', { name: /^Go to #/ }));
    await waitFor(() => expect(app.conversation.turns.find((turn) => turn.id === app.conversation.intent.turnId)?.seq).toBe(148));

    const here = app.conversation.sessionId;
    app.memory.narrow({ scope: 'all' });
    app.memory.query = '';
    await waitFor(() => expect(lines().some((line) => / in “/.test(line.getAttribute('aria-label') ?? ''))).toBe(true));
    const other = lines().find((line) => / in “/.test(line.getAttribute('aria-label') ?? ''))!;
    await user.click(other);
    await user.click(await screen.findByRole('button', { name: /^Go to #/ }));
    await waitFor(() => expect(app.conversation.sessionId).not.toBe(here));
    await waitFor(() => expect(app.conversation.turns.some((turn) => turn.id === app.conversation.intent.turnId)).toBe(true));
  });

  test('is attached once from its row, with a confirmation', async () => {
    const { app, user } = await open();
    await screen.findByText('Newest first');
    const requestsBefore = app.composer.focusRequests;
    await user.click(screen.getByLabelText('Attach turn 148, you'));
    const button = await screen.findByLabelText('Attached: turn 148, you');
    expect(button).toBeDisabled();
    expect(app.memory.opened).toBe('');
    const [chip] = app.draft.memories;
    expect(app.composer.focusRequests).toBeGreaterThan(requestsBefore);
    await app.memory.attach(chip!.id);
    expect(app.draft.memories).toHaveLength(1);
  });

  test('is pinned verbatim from its row, and unpinned by undo', async () => {
    const { app, backend, user } = await open();
    await screen.findByText('Newest first');
    await user.click(screen.getByLabelText('Pin turn 148, you'));
    expect(await screen.findByLabelText('Pinned: turn 148, you')).toBeDisabled();
    expect(calls(backend, 'inspect.addPin')).toEqual([[app.conversation.branchId, 'Run the drift check on staging before I merge it.']]);
    await app.undo.undo();
    expect(await screen.findByLabelText('Pin turn 148, you')).toBeEnabled();
    expect(calls(backend, 'inspect.removePin')).toHaveLength(1);
  });

  test('that is long is shortened before it is pinned; an error keeps the text', async () => {
    const { backend, user } = await open();
    await screen.findByText('Newest first');
    const long = 'A very long answer. '.repeat(40).trim();
    const detail = await backend.memory.chunk((await backend.memory.chunks(everything)).chunks[0]!.id);
    backend.memory.chunk = async () => ({ ...detail, text: long });
    await user.click(screen.getByLabelText('Pin turn 148, you'));
    const editor = await screen.findByLabelText('Text to pin');
    expect(editor).toHaveValue(long);
    expect(calls(backend, 'inspect.addPin')).toHaveLength(0);
    backend.failNext('inspect.addPin', { message: 'There are too many pins', hint: 'Unpin one.' });
    await user.clear(editor);
    await user.type(editor, 'Just this{Enter}');
    expect(await screen.findByText(/There are too many pins/)).toBeInTheDocument();
    expect(screen.getByLabelText('Text to pin')).toHaveValue('Just this');
    await user.click(within(editor.closest('.editor')!).getByRole('button', { name: 'Pin' }));
    await waitFor(() => expect(screen.queryByLabelText('Text to pin')).not.toBeInTheDocument());
    expect(calls(backend, 'inspect.addPin').at(-1)?.[1]).toBe('Just this');
  });

  test('cannot be attached when a message has the maximum', async () => {
    const { app } = await open();
    const chip = (id: string) => ({ id, at: 1, role: 'user', speaker: '', document: '', title: 'y' });
    app.draft.memories = Array.from({ length: maxAttached }, (_, i) => chip(`c${i}`));
    await app.memory.attach('another');
    expect(await screen.findByText(`At most ${maxAttached} memories can be attached to a message`)).toBeInTheDocument();
    expect(app.draft.memories).toHaveLength(maxAttached);
  });

  test('is labelled with its time and speaker, in the language of the window', async () => {
    const at = Date.UTC(2026, 4, 2, 12);
    const mine = { id: 'c1', at, role: 'user', speaker: '', document: '', title: 'y' };
    const labels = () => [mine, { ...mine, role: 'assistant' }, { ...mine, speaker: 'Ada' }, { ...mine, document: 'plan.md' }, { ...mine, id: '01JZ3KF2', at: 0 }].map(chipLabel);
    expect(labels()).toEqual(['2 May 2026, you', '2 May 2026, the model', '2 May 2026, Ada', '2 May 2026, plan.md', 'Memory 3KF2']);
    await chooseLanguage('de', []);
    expect(labels()).toEqual(['2. Mai 2026, Sie', '2. Mai 2026, das Modell', '2. Mai 2026, Ada', '2. Mai 2026, plan.md', 'Erinnerung 3KF2']);
    await chooseLanguage('en', []);
  });

  test('that no longer exists is reported, and not attached', async () => {
    const { app } = await open();
    await app.memory.attach('no such chunk');
    expect(await screen.findByText('This memory no longer exists')).toBeInTheDocument();
    expect(app.draft.memories).toEqual([]);
    expect(app.memory.attaching).toBe('');
  });

  test('opened from elsewhere is shown above a list without it, and its use opens the X-ray', async () => {
    const { app, backend, user } = await open();
    const old = (await backend.memory.chunks({ ...everything, scope: 'lineage', branchId: app.conversation.branchId, offset: 200 })).chunks[0]!;
    const detail = await backend.memory.chunk(old.id);
    backend.memory.chunk = async () => ({ ...detail, uses: [{ turnId: old.turnId, turnSeq: old.turnSeq, sessionId: old.sessionId, rank: 2, score: 0.5, form: 'full', at: old.at, tool: '' }] });
    app.memory.open(old.id);
    await user.click(await screen.findByRole('button', { name: `turn ${old.turnSeq}` }));
    expect(app.inspector.tab).toBe('xray');
    expect(app.inspector.xrayTurnId).toBe(old.turnId);
  });
});

describe('sessions and turns', () => {
  test('each session keeps its own search, filter and expanded card', async () => {
    const { app, backend, user } = await open();
    await search(user, backend, 'drift check');
    app.memory.narrow({ role: 'user' });
    await waitFor(() => expect(lines()[0]).toHaveTextContent('drift'));
    await user.click(lines()[0]!);
    const [here, opened] = [app.conversation.sessionId, app.memory.opened];
    const other = (await backend.sessions.list(false, '')).find((row) => row.id !== here && row.turns > 0)!;
    await app.navigation.openSession(other.id);
    await screen.findByText('Newest first');
    expect(field()).toHaveValue('');
    expect([app.memory.opened, app.memory.narrowed]).toEqual(['', 0]);
    await app.navigation.openSession(here);
    await screen.findByText(/\d results?$/);
    expect(field()).toHaveValue('drift check');
    expect([app.memory.opened, app.memory.narrowed]).toEqual([opened, 1]);
    expect(await screen.findByRole('group', { name: 'Full text' })).toBeInTheDocument();
  });

  test('a turn does not repeat the search until more is indexed, and the list is never empty', async () => {
    const { app, backend, user } = await open();
    await search(user, backend, 'drift check');
    await waitFor(() => expect(screen.getByRole('group', { name: 'Memory' })).toHaveAttribute('aria-busy', 'false'));
    const searches = () => calls(backend, 'memory.search').length;
    const [before, statuses] = [searches(), calls(backend, 'memory.status').length];
    const panel = screen.getByRole('group', { name: 'Memory' });
    let emptied = false;
    const watch = new MutationObserver(() => (emptied ||= panel.querySelector('li') === null || panel.querySelector('.skeleton') !== null));
    watch.observe(panel, { childList: true, subtree: true });
    await user.click(lines()[0]!);
    await screen.findByRole('group', { name: 'Full text' });
    const chunks = calls(backend, 'memory.chunk').length;
    for (const kind of ['turn', 'jobs'] as const) backend.store.changed(kind, '', app.conversation.sessionId);
    await waitFor(() => expect(calls(backend, 'memory.status').length).toBeGreaterThan(statuses));
    expect(searches()).toBe(before);
    const answered = await backend.memory.status('');
    backend.memory.status = async () => ({ ...answered, units: answered.units + 2 });
    backend.store.changed('jobs', '', '');
    await waitFor(() => expect(searches()).toBe(before + 1));
    expect(calls(backend, 'memory.chunk')).toHaveLength(chunks);
    watch.disconnect();
    expect(emptied).toBe(false);
  });

  test('returning to the tab shows the last list at once', async () => {
    const { app } = await open();
    await screen.findByText('Newest first');
    app.inspector.select('state');
    await waitFor(() => expect(screen.queryByRole('list', { name: 'Memories' })).not.toBeInTheDocument());
    app.inspector.select('memory');
    await tick();
    expect(lines().length).toBe(50);
  });
});

describe('the index', () => {
  test('shows the progress of a reindex, and updates automatically', async () => {
    let done = 430;
    const { backend } = await open((prepared) => {
      prepared.memory.status = async () => status({ units: 1000, spaces: [
        { embedder: 'local/hashed/256/v1', state: 'serving', done: 1000, total: 1000, error: '' },
        { embedder: 'openai/text-embedding-3-small/1536/v1', state: 'building', done, total: 1000, error: '' },
      ] });
    });
    const bar = await screen.findByRole('progressbar', { name: 'Indexed with text-embedding-3-small (openai)' });
    expect(bar).toHaveAttribute('aria-valuenow', '430');
    done = 999;
    backend.store.changed('reindex', '', '');
    await waitFor(() => expect(bar).toHaveAttribute('aria-valuenow', '999'));
    expect(screen.getByText(/99.%/)).toBeInTheDocument();
  });

  test('names a turn that could not be indexed, with a retry', async () => {
    const { backend, user } = await open((prepared) => {
      prepared.memory.status = async () => status({ units: 3, degraded: [{ turnId: 't1', turnSeq: 31, sessionId: 's', title: 'What of the lag?', jobId: 77, error: 'No answer' }] });
    });
    await user.click(await screen.findByRole('button', { name: 'Index turn 31 again' }));
    expect(calls(backend, 'inspect.retryJob')).toEqual([[77]]);
  });
});

describe('texts', () => {
  const local: IndexSpace = { embedder: 'local/hashed/256/v1', state: 'serving', done: 12_840, total: 12_840, error: '' };

  test.each([
    [status({}), 'Nothing is indexed yet'],
    [status({ units: 12_840, spaces: [local] }), '12\u202f840 memories in all sessions, index up to date'],
    [status({ units: 1 }), '1 memory in all sessions, searched by words only'],
    [status({ units: 12_840, spaces: [{ ...local, done: 12_830 }] }), '12\u202f840 memories in all sessions, 10 being indexed'],
    [status({ units: 5, spaces: [local, { ...local, embedder: 'ollama/nomic/768/v2', state: 'building' }] }), '5 memories in all sessions, indexing with nomic (ollama)'],
    [status({ on: false, units: 5, spaces: [local] }), '5 memories in all sessions, index up to date. Memory is off: nothing is recalled into prompts'],
  ])('of the index %#', (index, text) => expect(indexText(index)).toBe(text));

  test('a share is 100 % only when everything is done', () => {
    expect(spaceShare({ done: 999, total: 1000 })).toBe(99);
    expect(spaceShare({ done: 1000, total: 1000 })).toBe(100);
    expect(spaceShare({ done: 0, total: 0 })).toBe(100);
  });

  test('marks whole words, in any case and script', () => {
    expect(markWords('Der Größe nach, GRÖSSE und größe.', ['größe', 'x']).filter((piece) => piece.marked).map((piece) => piece.text)).toEqual(['Größe', 'größe']);
    expect(markWords('<b>on-call</b> plan on', ['on-call']).filter((piece) => piece.marked).map((piece) => piece.text)).toEqual(['on', 'call', 'on']);
    expect(markWords('nothing', [])).toEqual([{ text: 'nothing', marked: false }]);
  });

  test('a card begins shortly before the first matched word if that would be cut off', () => {
    const visibleText = (text: string) => fromMatch(markWords(text, ['lag'])).map((piece) => piece.text).join('');
    expect(visibleText(`${'before it '.repeat(20)}the replication lag grew`)).toBe('… it before it the replication lag grew');
    expect(visibleText('the replication lag grew')).toBe('the replication lag grew');
    expect(visibleText('x '.repeat(100))).toBe('x '.repeat(100));
  });

  test('days are whole, in the time zone of the user', () => {
    const start = startOfDay('2026-03-29');
    expect(dayOf(start)).toBe('2026-03-29');
    expect(dayOf(startOfDay('2026-03-29', 1) - 1)).toBe('2026-03-29');
    expect(startOfDay('2026-3')).toBe(0);
    expect(dayOf(0)).toBe('');
  });

  test('speakers, vectors and times', () => {
    expect(whoSaid({ speaker: 'Mira', role: 'user' })).toBe('Mira');
    expect(whoSaid({ speaker: '', role: 'assistant' })).toBe('the model');
    expect(embedderName('local/sentence-encoder-lite/512/v1')).toBe('built-in (sentence encoder, English)');
    expect(embedderName('local/hashed/256/v1')).toBe('built-in (features of words)');
    expect(embedderName('openai/nomic-ai/nomic-embed/768/v2')).toBe('nomic-ai/nomic-embed (openai)');
    expect(timingText({ hits: [], candidates: 1, embedder: '', warning: '', totalMs: 31.4, embedMs: 0, vectorMs: 0, keywordMs: 2.04 })).toBe('1 candidates in 31\u202fms: words 2.0');
    expect([tagOf('decision'), tagOf('explanation')]).toEqual(['Decision', '']);
    const row: ChunkRow = { id: 'c', turnId: 't', turnSeq: 12, sessionId: 's', sessionTitle: 'Rye loaf', branchId: 'b', role: 'user', speaker: '', type: 'other', excerpt: '', summary: '', tokens: 1, document: 'notes.md', at: 0 };
    expect([factsOf(row, 's'), factsOf(row, 'other')]).toEqual([['you', '#12', 'notes.md'], ['you', '#12', 'notes.md', 'in “Rye loaf”']]);
    expect(factsOf({ ...row, turnSeq: 0, document: 'plan.md, line 3' }, 's')).toEqual(['plan.md, line 3']);
  });
});
