import { screen, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';
import { block, errorView, turnView } from '$lib/backend/fake/shapes';
import type { TurnView } from '$lib/backend/types';
import { mountIn, startedApp } from '../../test/mount';
import Answer from './Answer.svelte';
import Turn from './Turn.svelte';

async function renderTurn(more: Partial<TurnView>) {
  const { app, backend } = await startedApp();
  const turn = turnView({ seq: 9, createdAt: Date.now(), ...more });
  mountIn(app, Turn, { turn, index: 0 });
  return { app, backend, turn, article: screen.getAllByRole('article').at(-1)! };
}

/** Every state of a turn: its name, the text that must be shown, and the available actions. */
const states: [string, Partial<TurnView>, string, RegExp, string[]][] = [
  ['accepted', { state: 'accepted', outcome: '', assistant: [] }, 'Turn 9, accepted', /Saved, sending…/, []],
  ['preparing', { state: 'preparing', outcome: '', assistant: [] }, 'Turn 9, preparing', /Preparing the context/, []],
  ['responding', { state: 'responding', outcome: '' }, 'Turn 9, responding', /Answering/, []],
  ['pending', { state: 'pending' }, 'Turn 9, pending', /Saved, not summarized yet/, ['why pending', 'Fork from here']],
  ['paid for', { state: 'committed', cost: { usd: 0.031, estimate: false, today: false } }, 'Turn 9, saved', /cost \$0\.031/, []],
  ['committed', { state: 'committed' }, 'Turn 9, saved', /Saved, searchable/, ['Copy the answer', 'Fork from here']],
  ['head', { state: 'head' }, 'Turn 9, saved, latest', /Saved · latest/, ['Fork from here']],
  ['degraded', { state: 'degraded' }, 'Turn 9, saved, not searchable yet', /not searchable yet/, ['show the job']],
  ['stopped', { state: 'committed', outcome: 'stopped', canContinue: true }, 'Turn 9, stopped, saved', /Stopped/, ['continue']],
  ['truncated', { state: 'head', outcome: 'truncated' }, 'Turn 9, saved, latest', /Cut at the output limit/, []],
  ['refused', { state: 'pending', outcome: 'refused', assistant: [block('refusal', 'I can’t.')] }, 'Turn 9, refused, pending', /The model declined/, []],
  ['kept', { state: 'pending', outcome: 'kept' }, 'Turn 9, kept, pending', /Partial answer, kept/, []],
  ['incomplete', { state: 'incomplete', outcome: 'incomplete', displayed: 12_480, durable: 12_480, canContinue: true, error: errorView('The program ended') }, 'Turn 9, incomplete', /12\u202f480 bytes recovered.*The program ended\. Every byte shown here is on disk/s, ['Continue', 'Retry', 'Keep', 'Discard']],
  ['unsaved', { state: 'unsaved', outcome: '', displayed: 10, durable: 10, error: errorView('The disk is full') }, 'Turn 9, not saved yet', /Answer received, not saved yet.*The disk is full\. Every byte shown here is on disk.*tried again automatically.*do not need to do anything/s, ['Try now']],
  ['failed', { state: 'failed', outcome: 'failed', assistant: [], attempts: 4, durationMs: 38_000, error: errorView('The provider is overloaded (529)', 'Try again later.') }, 'Turn 9, failed', /No answer\. The provider is overloaded \(529\).*Tried 4 times.*nothing arrived.*Try again later\./s, ['Retry', 'Show 4 attempts']],
  ['unsent', { state: 'unsent', outcome: '', assistant: [] }, 'Turn 9, unsent', /Not sent.*Your message is saved/s, ['Send', 'Discard']],
  ['discarded', { state: 'failed', outcome: 'discarded', assistant: [block('text', 'Half an answer')] }, 'Turn 9, discarded', /Half an answer.*Discarded/s, ['Copy the answer']],
];

describe('a turn', () => {
  it.each(states)('is drawn when it is %s', async (_, more, name, text, actions) => {
    const { article } = await renderTurn(more);
    expect(article).toHaveAccessibleName(name);
    expect(article.textContent).toMatch(text);
    for (const action of actions) expect(within(article).getByRole('button', { name: action })).toBeEnabled();
  });

  it('does not show imported instructions and unknown content as words of a person', async () => {
    const { article } = await renderTurn({ state: 'head', user: [block('text', 'Book a table'), block('instructions', 'Be brief.'), block('unknown', '{"type":"x"}', { name: 'chatgpt' }), block('unknown', '{"type":"y"}', { name: 'chatgpt' })] });
    within(article).getByText(/2 parts that the other program hides/);
    expect(article.textContent).not.toContain('{"type":"x"}');
    await userEvent.click(within(article).getByText('Instructions that came with the import'));
    await within(article).findByText('Be brief.');
    expect((await renderTurn({ state: 'head', seq: 10, user: [] })).article.textContent).toContain('No message came with this answer.');
  });

  it.each<[string, Partial<TurnView>, string[]]>([
    ['incomplete', { state: 'incomplete', outcome: 'incomplete', displayed: 12, durable: 12, canContinue: true }, []],
    ['unsent', { state: 'unsent', outcome: '', assistant: [] }, []],
    ['failed', { state: 'failed', outcome: 'failed', assistant: [], attempts: 1, error: errorView('No') }, ['Retry', 'Show the attempt']],
  ])('of another device that is %s offers nothing that would change it', async (_, more, actions) => {
    const { app, backend } = await startedApp({ data: 'rich' });
    const { sessionId, branchId } = app.conversation;
    backend.store.branch(branchId).view.foreign = true;
    await app.conversation.open(sessionId, branchId);
    mountIn(app, Turn, { turn: turnView({ seq: 9, branchId, createdAt: Date.now(), ...more }), index: 0, machine: 'workshop' });
    const place = document.querySelector('.notice-place')!;
    expect(within(place as HTMLElement).queryAllByRole('button').map((button) => button.textContent?.trim()).filter((text) => text !== 'Send to another model')).toEqual(actions);
    if (actions.length === 0) expect(place.textContent).toContain('finished there');
    screen.getByText('on workshop');
  });

  it.each([['recall', false], ['openai', true]])('that the end of the program interrupted names a server only if its provider has one: %s', async (provider, hasServer) => {
    const { article } = await renderTurn({ state: 'failed', outcome: 'failed', assistant: [], provider, attempts: 1, error: errorView('The program ended before an answer arrived. Your message is saved.', 'retry', 'unavailable') });
    expect(article.textContent?.match(/Your message is saved/g)).toHaveLength(1);
    expect(article.textContent?.includes('address of the server')).toBe(hasServer);
    expect(within(article).queryByRole('button', { name: 'Check the server' }) !== null).toBe(hasServer);
  });

  it('that the end of the program interrupted does not blame the server', async () => {
    const { article } = await renderTurn({ state: 'failed', outcome: 'failed', assistant: [], provider: 'openai', attempts: 1, error: errorView('The program ended before an answer arrived. Your message is saved.', 'retry', 'incomplete') });
    expect(article.textContent).toMatch(/The program ended before an answer arrived.*Retry/s);
    expect(article.textContent).not.toContain('server');
  });

  it('shows when an incomplete answer is not completely on disk', async () => {
    const { article } = await renderTurn({ state: 'incomplete', outcome: 'incomplete', displayed: 3_000, durable: 1_200 });
    expect(article.textContent).toMatch(/Incomplete answer, 3\u202f000 bytes shown.*Only 1\u202f200 bytes of it were saved to disk/s);
  });

  it('keeps a failed decision beside its buttons, with the focus', async () => {
    const { app, backend, article } = await renderTurn({ state: 'incomplete', outcome: 'incomplete', displayed: 10, durable: 10 });
    backend.failNext('chat.keep', { message: 'The disk is full', hint: 'Free some space.' });
    const keep = within(article).getByRole('button', { name: 'Keep' });
    const requestsBefore = app.composer.focusRequests;
    await userEvent.click(keep);
    expect(within(article).getByRole('alert')).toHaveTextContent(/The disk is full.*Free some space\./);
    expect([document.activeElement, app.composer.focusRequests]).toEqual([keep, requestsBefore]);
  });

  it('offers nothing while it runs', async () => {
    const { article } = await renderTurn({ state: 'responding', outcome: '' });
    expect(within(article).queryByRole('button', { name: /Fork|Edit|Retry/ })).toBeNull();
    expect(article).toHaveAttribute('aria-busy', 'true');
  });

  it('draws every kind of block', async () => {
    const { article } = await renderTurn({
      assistant: [
        block('reasoning', 'two words'), block('text', 'An **answer**'), block('tool_use', '{"a":1}', { name: 'run_job' }),
        block('tool_result', 'broken', { name: 'run_job', isError: true }), block('image', '', { data: 'data:image/png;base64,iVBORw0KGgo=' }), block('unknown', '{"type":"x"}', { name: 'openai' }),
      ],
    });
    expect(article.querySelector('strong')).toHaveTextContent('answer');
    expect(within(article).getByText('Reasoning, 2 words')).toBeVisible();
    expect(within(article).getByRole('region', { name: 'Call to run_job' })).toHaveTextContent(/Not run.*\{"a":1\}/s);
    expect(within(article).getByRole('region', { name: 'Result from run_job' })).toHaveTextContent('Failed');
    expect(within(article).getByAltText('From the model')).toBeInTheDocument();
    await userEvent.click(within(article).getByText(/Unsupported content from openai/));
    expect(article).toHaveTextContent('{"type":"x"}');
  });

  it('shows that a model reasons, and how much, while nothing else arrives', async () => {
    const growing = await startedApp();
    const { container } = mountIn(growing.app, Answer, { blocks: [block('reasoning', 'let me think')], growing: true, buffered: 5 });
    expect(within(container).getByText('Reasoning… 3 words')).toBeVisible();
    await userEvent.click(within(container).getByText('Reasoning… 3 words'));
    expect(container).toHaveTextContent('let me think');
  });

  it('shows that a call of an imported conversation ran, if its result is there', async () => {
    const { article } = await renderTurn({ assistant: [block('tool_use', '{}', { name: 'grep', id: 'c1' }), block('tool_result', 'a match', { id: 'c1' }), block('tool_use', '{}', { name: 'sed', id: 'c2' })] });
    expect(within(article).getByRole('region', { name: 'Call to grep' })).toHaveTextContent(/^grep\s*Ran/);
    expect(within(article).getByRole('region', { name: 'Call to sed' })).toHaveTextContent(/^sed\s*Not run/);
  });

  it('never loads a picture that is not part of the answer', async () => {
    const { article } = await renderTurn({ user: [block('image', '', { data: 'https://example.com/u.png' }), block('text', 'Hi')], assistant: [block('image', '', { data: 'https://example.com/x.png' })] });
    expect(article.querySelector('img')).toBeNull();
  });

  it('shows the user message as written, and folds a very long one', async () => {
    const { article } = await renderTurn({ user: [block('text', `<b>not bold</b>\n${'line\n'.repeat(500)}the end`)] });
    expect(article.querySelector('.ask b')).toBeNull();
    expect(article.textContent).not.toContain('the end');
    await userEvent.click(within(article).getByRole('button', { name: /Show all/ }));
    expect(article.textContent).toContain('the end');
  });

  it('warns if a server seems to have cut the prompt', async () => {
    const { article } = await renderTurn({ inputTokens: 2048, cutFrom: 19_800 });
    expect(article).toHaveTextContent('The server may have cut the prompt');
    expect(article.textContent?.replaceAll('\u202f', ' ')).toContain('reported 2 048 input tokens of about 19 800 that were sent');
  });

  it('keeps an incomplete answer on request', async () => {
    const { app, backend } = await startedApp();
    const turn = backend.store.addTurn(app.conversation.branchId, { state: 'incomplete', outcome: 'incomplete', canContinue: true });
    await app.navigation.openSession(app.conversation.sessionId);
    mountIn(app, Turn, { turn, index: 0 });
    await userEvent.click(screen.getByRole('button', { name: 'Keep' }));
    expect(backend.calls.find((call) => call.name === 'chat.keep')?.args).toEqual([turn.id]);
    expect(app.conversation.newest?.outcome).toBe('kept');
  });

  it('is shown as one question with its failed attempts folded, however often it was sent again', async () => {
    const { app, backend } = await startedApp();
    const user = [block('text', 'What is next?')];
    const tries = [backend.store.addTurn(app.conversation.branchId, { state: 'failed', outcome: 'failed', user, assistant: [], error: errorView('The server is not running') })];
    for (let n = 0; n < 3; n++) tries.push(backend.store.addTurn(app.conversation.branchId, { state: 'failed', outcome: 'failed', user, assistant: [], error: errorView('The server is not running'), retryOf: tries.at(-1)!.id }));
    await app.navigation.openSession(app.conversation.sessionId);
    for (const [index, turn] of tries.entries()) mountIn(app, Turn, { turn, index });
    expect(screen.getAllByText('What is next?')).toHaveLength(1);
    expect(screen.getAllByRole('button', { name: 'Retry' })).toHaveLength(1);
    const first = screen.getAllByRole('article')[0]!;
    expect(first).not.toHaveTextContent('The server is not running');
    await userEvent.click(within(first).getByText(`No answer. Sent again as #${tries[1]!.seq}.`));
    expect(first).toHaveTextContent('No answer. The server is not running');
    expect(first).toHaveTextContent('What is next?');
    expect(first).not.toHaveTextContent('Discarded');
  });

  it('unfolds a failed try in which the search has found something', async () => {
    const { app, backend } = await startedApp();
    const user = [block('text', 'What is next?')];
    const failed = backend.store.addTurn(app.conversation.branchId, { state: 'failed', outcome: 'failed', user, assistant: [], error: errorView('The server is not running') });
    backend.store.addTurn(app.conversation.branchId, { state: 'head', user, retryOf: failed.id });
    await app.navigation.openSession(app.conversation.sessionId);
    mountIn(app, Turn, { turn: failed, index: 0 });
    expect(screen.queryByText('What is next?')).toBeNull();
    app.find.show('next');
    await app.find.step(1);
    expect(app.find.marks?.turnId).toBe(failed.id);
    expect(await screen.findByText('What is next?')).toBeVisible();
  });

  it('asks for no decision about a failed turn that was sent again', async () => {
    const { app, backend } = await startedApp();
    const failed = backend.store.addTurn(app.conversation.branchId, { state: 'failed', outcome: 'failed', assistant: [], error: errorView('The server is not running') });
    const retry = backend.store.addTurn(app.conversation.branchId, { state: 'head', retryOf: failed.id });
    await app.navigation.openSession(app.conversation.sessionId);
    mountIn(app, Turn, { turn: failed, index: 0 });
    expect(screen.getByRole('article')).toHaveTextContent(`No answer. Sent again as #${retry.seq}.`);
    expect(screen.queryByRole('button', { name: /Retry|Discard/ })).toBeNull();
  });

  it('opens the details of its numbers', async () => {
    const { app, article, turn } = await renderTurn({ inputTokens: 9_806, outputTokens: 612 });
    await userEvent.click(within(article).getByRole('button', { name: '9\u202f806 in, 612 out' }));
    expect([app.inspector.tab, app.inspector.turnId]).toEqual(['activity', turn.id]);
  });

  it('opens the context that the model saw', async () => {
    const { app, article, turn } = await renderTurn({});
    await userEvent.click(within(article).getByRole('button', { name: 'Show the prompt' }));
    expect([app.inspector.tab, app.inspector.xrayTurnId]).toEqual(['xray', turn.id]);
  });

  it('pins the selected text', async () => {
    const { app, backend } = await startedApp();
    mountIn(app, Turn, { turn: turnView(), index: 0, selected: 'Never on a Friday.' });
    await userEvent.click(screen.getByRole('button', { name: 'Pin the selected text' }));
    expect(backend.store.branch(app.conversation.branchId).pins.map((pin) => pin.text)).toEqual(['Never on a Friday.']);
    app.toasts.act(app.toasts.list[0]!.id);
    await expect.poll(() => backend.store.branch(app.conversation.branchId).pins).toEqual([]);
  });
});
