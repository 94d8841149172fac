import { screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';
import type { FakeBackend } from '$lib/backend/fake';
import { contextItem } from '$lib/backend/fake/context';
import type { ContextItem, ContextView } from '$lib/backend/types';
import { chooseLanguage } from '$lib/i18n/i18n.svelte';
import { mountWith } from '$shared/testing/harness';
import Inspector from '../Inspector.svelte';
import { countedAgainst, linkTextOf, extentOf, nameOf, prefixText, previewOf, share } from './sections';

const n = '\u202f';
const user = userEvent.setup();

describe('texts of the X-ray', () => {
  it.each([[5, 100, `5.0${n}%`], [0, 0, `0.0${n}%`]])('%d of %d', (part, all, text) => expect(share(part, all)).toBe(text));

  it.each([
    [{ tokens: 1_000, reported: 0 }, `1${n}000 counted; the provider reported nothing`],
    [{ tokens: 1_030, reported: 1_000 }, `1${n}030 counted, 1${n}000 reported, 3.0${n}% over`],
    [{ tokens: 970, reported: 1_000 }, `970 counted, 1${n}000 reported, 3.0${n}% under`],
    [{ tokens: 1_000, reported: 1_000 }, `1${n}000 counted, 1${n}000 reported, the same`],
  ])('count against report', (view, text) => expect(countedAgainst(view)).toBe(text));

  it('describes the content of a section', () => {
    const section = (name: string, items: Parameters<typeof contextItem>[0][]) => ({ name, tokens: 0, cap: 0, items: items.map(contextItem) });
    expect(extentOf(section('originals', [{ seq: 139 }, { seq: 148 }]))).toBe('#139 to #148');
    expect(extentOf(section('pending', [{ seq: 149 }, { seq: 149 }]))).toBe('#149');
    expect(extentOf(section('summaries', [{ from: 1, to: 90 }, { from: 91, to: 136 }]))).toBe('#1 to #136');
    expect(extentOf(section('retrieved', ['config', 'day', 'chunk', 'chunk', 'now', 'config'].map((source) => ({ source }))))).toBe('2');
    expect([extentOf(section('pinned', [{}, {}])), extentOf(section('system', [{}])), extentOf(section('originals', []))]).toEqual(['2', '', '']);
  });

  it('previews an item without markup, number and hour', () => {
    const chunk = { turnSeq: 4, excerpt: 'The lag grew.' };
    const items = [contextItem({ text: '## Facts\n- About **the lag**, `x` first' }), { ...contextItem({ text: '<m>#4 19:15 assistant: The **lag** grew.' }), memory: { chunk } } as ContextItem];
    expect(items.map((item) => previewOf(item))).toEqual(['Facts - About the lag, x first', 'The lag grew.']);
    expect(previewOf(items[0]!, 5)).toBe('Facts…');
  });

  it('a chunk of a project file has no turn to link to', () => {
    const chunk = { turnSeq: 0, document: 'plan.md, line 3' };
    expect(linkTextOf({ source: 'chunk', memory: { chunk } } as ContextItem)).toBe('');
    expect(linkTextOf({ source: 'chunk', memory: { chunk: { ...chunk, turnSeq: 4 } } } as ContextItem)).toBe('#4');
  });

  it.each([['turn', '#7', 'you'], ['summary', '#1–9', 'L'], ['pin', 'pin', 'L'], ['state', 'state', 'L'], ['config', 'settings', 'L'], ['message', '', 'L']])('the source of a %s has a link', (source, link, name) => {
    const item = contextItem({ source, seq: 7, from: 1, to: 9, label: 'L' });
    expect([linkTextOf(item), nameOf(item)]).toEqual([link, name]);
  });

  it('shows how much of the beginning is unchanged', () => {
    expect(prefixText(0, 10)).toBe('nothing at the front is the same');
    expect(prefixText(1_500, 2_000)).toBe(`first 1${n}500 of 2${n}000 bytes the same, 75${n}%`);
  });
});

async function xray(change: Partial<ContextView> = {}) {
  const mounted = await mountWith(Inspector, (app) => (app.inspector.select('xray'), {}), {}, (backend: FakeBackend) => {
    const { inspect } = backend;
    const [context, next] = [inspect.context, inspect.nextContext];
    Object.defineProperty(backend, 'inspect', { value: new Proxy(inspect, { get: (target, name: keyof typeof inspect) =>
      name === 'context' ? async (id: string) => ({ ...(await context(id)), ...change }) : name === 'nextContext' ? async (...args: Parameters<typeof next>) => ({ ...(await next(...args)), ...change }) : target[name] }) });
  });
  const { app, backend } = mounted;
  const newest = app.conversation.newest!;
  return { ...mounted, newest, calls: (name: string) => backend.calls.filter((call) => call.name === name).map((call) => call.args) };
}

const row = (name: RegExp) => screen.getByText(name).closest('details')!;

describe('the X-ray', () => {
  it('lists what the model looked up, each with a link to its source', async () => {
    const change: Partial<ContextView> = {};
    const { app, newest } = await xray(change);
    change.lookedUp = [
      { tool: 'search_memory', sessionId: '', sessionTitle: 'Garden', turnId: newest.id, turnSeq: newest.seq },
      { tool: 'get_turn', sessionId: 'gone', sessionTitle: '', turnId: 'gone', turnSeq: 0 },
    ];
    app.inspector.showInXray(newest.id);
    const list = within((await screen.findByText('Looked up by the model')).closest('section')!);
    expect(list.getByText('a turn that is no longer here')).toBeTruthy();
    expect(list.getByText('search_memory')).toBeTruthy();
    await user.click(list.getByRole('button', { name: `Go to the source: turn ${newest.seq} of Garden` }));
    await waitFor(() => expect(app.conversation.intent.turnId).toBe(newest.id));
  });

  it('says what the next request needs', async () => {
    const suggestion = 'Lower summary.preserve_recent.';
    const status = (more: Partial<NonNullable<ContextView['status']>>) => ({ status: { kind: 'ready', excess: 0, turns: [], required: 0, budget: 0, suggestion, ...more } });
    const change: Partial<ContextView> = status({ kind: 'needs_summarization', excess: 8_100, turns: [3, 4] });
    const { app, calls } = await xray(change);
    expect(await screen.findByText(`2 turns that no longer fit have no summary yet, 8 100 tokens`)).toBeVisible();
    expect(screen.getByRole('button', { name: '#4' })).toBeVisible();
    await user.click(screen.getByRole('button', { name: 'Summarize now' }));
    await waitFor(() => expect(calls('inspect.summarize')).toEqual([[app.conversation.branchId, false]]));
    Object.assign(change, status({ kind: 'recent_too_large', required: 9_000, budget: 6_000 }));
    app.draft.text = 'one';
    expect(await screen.findByText(`The newest messages need 9 000 of at most 6 000 tokens, so they are sent in part`)).toBeVisible();
    expect(screen.getByText(suggestion)).toBeVisible();
    Object.assign(change, status({}));
    app.draft.text = 'two';
    expect(await screen.findByText(/^ready/)).toBeVisible();
  });

  it('shows the next request, then that of a turn, and steps between turns', async () => {
    const { app, newest } = await xray();
    expect(await screen.findByText('next')).toBeVisible();
    await user.click(screen.getByRole('radio', { name: 'Sent' }));
    await waitFor(() => expect(app.inspector.xrayTurnId).toBe(newest.id));
    expect(await screen.findByText(/84.% cached/)).toBeVisible();
    await user.click(screen.getByRole('button', { name: 'Previous turn' }));
    await waitFor(() => expect(app.conversation.turns.find((turn) => turn.id === app.inspector.xrayTurnId)?.seq).toBe(newest.seq - 1));
    await user.click(await screen.findByRole('button', { name: 'Next turn' }));
    await user.click(await screen.findByRole('button', { name: 'What comes next' }));
    await waitFor(() => expect(app.inspector.xrayTurnId).toBe(''));
  });

  it('expands an item to its exact text on request, with a link to its source', async () => {
    const { app, newest } = await xray();
    app.inspector.show('xray', newest.id);
    await user.click(within(await waitFor(() => row(/Pinned facts/))).getByText(/Pinned facts/));
    const line = await screen.findByRole('button', { name: /^Pinned fact, 8 tokens/ });
    expect(screen.queryByRole('group', { name: 'Pinned fact, exact text' })).toBeNull();
    await user.click(line);
    expect(screen.getByRole('group', { name: 'Pinned fact, exact text' })).toHaveTextContent('No change goes out on a Friday.');
    await user.click(screen.getAllByRole('button', { name: 'Go to the source: Pinned fact' })[0]!);
    expect(app.inspector.tab).toBe('state');
  });

  it('names a section and its range apart, so that only the name is shortened', async () => {
    const items = [contextItem({ seq: 13 }), contextItem({ seq: 30 })];
    await xray({ sections: [{ name: 'pending', tokens: 40, cap: 6000, items }] });
    await chooseLanguage('de', []);
    const range = await screen.findByText('#13 bis #30');
    expect(range).not.toHaveClass('truncate');
    expect(range.parentElement).toHaveAttribute('title', 'Ausstehende Runden #13 bis #30');
    expect(screen.getByText('Ausstehende Runden', { selector: '.truncate' })).toBeInTheDocument();
    await chooseLanguage('en', []);
  });

  it('goes to the turn of an original', async () => {
    const { app } = await xray();
    await user.click(within(await waitFor(() => row(/Original turns/))).getByText(/Original turns/));
    await user.click((await screen.findAllByRole('button', { name: 'Go to the source: Turn 148, you' }))[0]!);
    await waitFor(() => expect(app.conversation.turns.find((turn) => turn.id === app.conversation.intent.turnId)?.seq).toBe(148));
  });

  it('shows what was added since the previous turn', async () => {
    const { app, newest } = await xray();
    app.inspector.show('xray', newest.id);
    expect(await screen.findByText(`Against #${newest.seq - 1}`)).toBeVisible();
    expect(screen.getByText(/first .* bytes the same/)).toBeVisible();
    expect(screen.getAllByText(/Turn 149, the model/).length).toBeGreaterThan(0);
  });

  it('shows what was shortened, left out and replaced, and that the bytes differ', async () => {
    const { app, newest } = await xray({ shrink: ['advanced the cut to #140', 'dropped pending turn 141'], dropped: [148], redacted: [{ rule: 'aws-key', count: 2 }], same: false, note: 'A summary is gone.' });
    app.inspector.show('xray', newest.id);
    expect(await screen.findByText('1 pending turn left out')).toBeVisible();
    expect(screen.getByText('advanced the cut to #140')).toBeVisible();
    expect(screen.getByText('aws-key').closest('div')).toHaveTextContent('2 times');
    expect([screen.getByText('not the same'), screen.getByText('A summary is gone.')]).toHaveLength(2);
    await user.click(screen.getByRole('button', { name: '#148' }));
    await waitFor(() => expect(app.conversation.turns.find((turn) => turn.id === app.conversation.intent.turnId)?.seq).toBe(148));
  });

  it('shows in numbers what does not fit', async () => {
    await xray({ tokens: 61_000, ceiling: 50_000, sections: [], error: { code: 'over_budget', op: 'turn', message: 'This does not fit', hint: 'Shorten it.' } });
    expect(await screen.findByText('This does not fit')).toBeVisible();
    expect(screen.getByText(/61.000 needed, 11.000 too many/)).toBeVisible();
  });

  it('shows why a memory was recalled, and goes to its turn', async () => {
    const chunk = { id: 'c1', turnId: 't12', turnSeq: 12, sessionId: '', sessionTitle: '', branchId: 'b', role: 'user', speaker: '', type: 'other' as const, excerpt: 'The port is 7443.', summary: '', tokens: 40, document: '', at: Date.UTC(2026, 4, 2, 12) };
    const match = { words: ['port'], similarity: 0.97, role: 'user', reason: 'Matched: port.' };
    const memory = { rank: 1, score: 0.424, form: 'slice', attached: false, chunk, match };
    const item = { source: 'chunk', id: 'c1', seq: 0, from: 0, to: 0, role: '', label: 'Memory 3KF2', tokens: 40, bytes: 160, text: '[2 May 2026] user: The port is 7443.', change: '', turnId: 't12', memory };
    const { app, newest } = await xray({ sections: [{ name: 'retrieved', tokens: 40, cap: 6000, items: [item] }], retrievalError: 'The embedder did not answer.' });
    const source = app.conversation.turns.at(-3)!;
    item.turnId = source.id;
    chunk.sessionId = app.conversation.sessionId;
    app.inspector.show('xray', newest.id, 'retrieved');
    const line = await screen.findByRole('button', { name: /^The port is 7443\. Turn 12, you, 2 May 2026, 40 tokens/ });
    expect(line).toHaveTextContent(/^The port is 7443\.$/);
    const listItem = line.closest('li')!;
    expect(listItem).toHaveTextContent(/you · #12 · .*in part.*Match.*42/);
    expect(screen.getByText('Answered without memory')).toBeVisible();
    expect(screen.queryByRole('note', { name: 'Why is this here?' })).toBeNull();
    await user.click(line);
    expect(screen.getByRole('note', { name: 'Why is this here?' })).toHaveTextContent('Matched: port. Result 1 of this search.');
    expect(screen.getByRole('group', { name: 'Turn 12, you, 2 May 2026, exact text' })).toHaveTextContent('[2 May 2026] user: The port is 7443.');
    expect(within(listItem).getByRole('button', { name: 'Pin Turn 12, you, 2 May 2026' })).toBeEnabled();
    expect(within(listItem).getByRole('button', { name: 'Attach Turn 12, you, 2 May 2026' })).toBeEnabled();
    await user.click(screen.getByRole('button', { name: 'Go to the source: Turn 12, you, 2 May 2026' }));
    await waitFor(() => expect(app.conversation.intent.turnId).toBe(source.id));
  });

  it('uses one language for names, sources and reasons of items', async () => {
    const chunk = { id: 'c1', turnId: 't12', turnSeq: 12, sessionId: 'other', sessionTitle: '', branchId: 'b', role: 'user', speaker: '', type: 'other' as const, excerpt: '7443.', summary: '', tokens: 40, document: '', at: Date.UTC(2026, 4, 2, 12) };
    const reason = {
      id: '%s · %s',
      args: [
        { id: 'matched: %s and %d more', args: ['port', 2] },
        { id: 'more similar than %s %% of unrelated text', args: ['97'] },
      ],
    };
    const match = { words: ['port'], similarity: 0.97, role: 'user', reason };
    const memory = { rank: 1, score: 0.424, form: 'full', attached: false, chunk, match };
    const items = [
      contextItem({ source: 'chunk', text: '7443.', role: 'user', label: { id: 'Memory %s', args: ['3KF2'] }, memory }),
      contextItem({ source: 'state', text: '7443?', role: 'system', label: { id: 'State summary %s', args: ['3KF2'] } }),
    ];
    const usageNote = { id: 'the server reported %s = %d, which is negative', args: ['input_tokens', -4] };
    const { app, newest } = await xray({ sections: [{ name: 'retrieved', tokens: 40, cap: 6000, items }], usageNote });
    app.inspector.show('xray', newest.id, 'retrieved');
    await screen.findByRole('button', { name: /^7443\. “Untitled”, turn 12, you, 2 May 2026/ });
    await chooseLanguage('de', []);
    await user.click(await screen.findByRole('button', { name: /^7443\. „Ohne Titel“, Runde 12, Sie, 2\. Mai 2026, 2 Token/ }));
    await user.click(screen.getByRole('button', { name: 'Zustandszusammenfassung 3KF2, 2 Token' }));
    const text = screen.getByRole('tabpanel').textContent;
    for (const words of [`Gefunden: port und 2 weitere · ähnlicher als 97${n}% der nicht verwandten Texte`, 'Nutzer, 5', 'System, 5', 'Der Server meldete input_tokens = -4, eine negative Zahl.']) expect(text).toContain(words);
    await chooseLanguage('en', []);
  });

  it('explains the limit', async () => {
    await xray();
    await user.click(await screen.findByText(/token limit is computed/));
    expect(screen.getByText('Context window of the model').closest('div')).toHaveTextContent(/200.000/);
    expect(screen.getByText(/calibration/).closest('div')).toHaveTextContent('1.05');
  });

  it('shows the exact request that was sent, and none if nothing was sent', async () => {
    const { app, newest, calls } = await xray();
    await user.click(await screen.findByRole('radio', { name: 'Raw' }));
    expect(await screen.findByText('Nothing has been sent yet')).toBeVisible();
    app.inspector.showInXray(newest.id);
    expect(await screen.findByText(/"max_tokens": 8000/)).toBeVisible();
    expect(calls('inspect.rawStep')).toEqual([[`${newest.id}-p1`]]);
  });

  it('includes the draft in the next request', async () => {
    const { app, calls } = await xray();
    await screen.findByText('next');
    await waitFor(() => expect(calls('inspect.nextContext').length).toBeGreaterThan(0));
    app.draft.typed = 'And one more thing';
    await waitFor(() => expect(calls('inspect.nextContext').at(-1)?.[2]).toMatchObject({ text: 'And one more thing', files: [], memories: [] }));
    const [file, chip] = [{ id: 'f1', name: 'notes.md', mediaType: 'text/markdown', tokens: 5 }, { id: 'c1', at: 1, role: 'user', speaker: '', document: '', title: 'a piece' }];
    app.draft.addFile(file);
    app.draft.memories = [chip];
    await waitFor(() => expect(calls('inspect.nextContext').at(-1)?.[2]).toMatchObject({ text: 'And one more thing', files: [file], memories: [chip] }));
  });

  it('shows why a context cannot be loaded', async () => {
    const { app, backend, newest } = await xray();
    backend.failNext('inspect.context', { message: 'That turn was never sent', hint: 'Send it.' });
    app.inspector.showInXray(newest.id);
    expect(await screen.findByRole('alert')).toHaveTextContent('That turn was never sent');
    expect(screen.getByRole('button', { name: 'Try again' })).toBeVisible();
  });

  it('a turn whose context is not stored here has a note in the language of the window, not an error', async () => {
    const { app, backend, newest } = await xray();
    await chooseLanguage('de', []);
    try {
      backend.failNext('inspect.context', { code: 'not_found', message: 'The context of this turn is not stored here: it belongs to the original of this copy.', hint: '' });
      app.inspector.showInXray(newest.id);
      expect(await screen.findByText('Der Kontext dieser Runde ist hier nicht gespeichert: Er gehört zum Original dieser Kopie.')).toBeVisible();
      expect(screen.queryByRole('alert')).toBeNull();
      expect(screen.queryByRole('button', { name: 'Erneut versuchen' })).toBeNull();
    } finally {
      await chooseLanguage('en', []);
    }
  });
});
