import { fireEvent, screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { FakeBackend } from '$lib/backend/fake';
import { block } from '$lib/backend/fake/shapes';
import { seedServers } from '$lib/backend/fake/servers';
import { toolCall, toolDefinition } from '$lib/backend/fake/tools';
import type { ToolCallState, ToolCallView } from '$lib/backend/types';
import { mountIn, startedApp } from '../../test/mount';
import { callsByBlock } from '../transcript/calls';
import CallCard from './CallCard.svelte';
import { settling } from './front';
import { lineDiff, previewRows } from './lines';
import { argumentLine, argumentsOf, showInvisible } from './plain';
import QueueDialog from './QueueDialog.svelte';
import ToolsPage from './ToolsPage.svelte';
import WaitingStrip from './WaitingStrip.svelte';
import { callState, queueText } from './labels';
import { SettingsEditor } from '../settings/settings.svelte';

/** A turn of the open session that calls tools. */
async function openWithCalls(calls: Partial<ToolCallView>[], prepare: (backend: FakeBackend) => void = () => undefined) {
  const { app, backend } = await startedApp();
  backend.toolbox.runMs = Infinity;
  backend.toolbox.definitions = [toolDefinition(), toolDefinition({ tool: 'run_job', description: 'Runs a job.' })];
  prepare(backend);
  const turn = backend.store.addTurn(app.conversation.branchId, { user: [block('text', 'Look')], assistant: [block('text', 'I look.')] });
  const proposed = backend.toolbox.propose(turn, calls);
  await app.navigation.openSession(app.conversation.sessionId);
  await app.tools.load();
  return { app, backend, turn, proposed };
}

const renderCall = (call: Partial<ToolCallView>) => async () => {
  const { app, backend } = await startedApp();
  mountIn(app, CallCard, { call: toolCall(call) });
  return { app, backend, card: screen.getByRole('region', { name: /^Call to/ }) };
};
const elapsed = performance.now.bind(performance);
let ahead = 0;
/** The card has been in front for a moment, so keys and clicks count. */
function settle() {
  ahead += settling;
  vi.spyOn(performance, 'now').mockImplementation(() => elapsed() + ahead);
}
/** Alt and a letter, once the card has been in front for a moment. */
async function decideBy(letter: string) {
  settle();
  await userEvent.keyboard(`{Alt>}${letter}{/Alt}`);
}
/** The same with a click. */
async function clickOn(name: RegExp) {
  settle();
  await userEvent.click(screen.getByRole('button', { name }));
}
const decided = (backend: FakeBackend) => backend.calls.filter(({ name }) => name === 'tools.decide').map(({ args }) => args[0]);

/** The time at which the states below are drawn. */
const now = Date.UTC(2026, 0, 2, 3, 4, 5);

/** Every state of a call, and the text that must be shown. */
const states: [string, Partial<ToolCallView>, RegExp][] = [
  ['waits', { state: 'proposed' }, /Waits for you/],
  ['is allowed', { state: 'allowed', decision: 'once' }, /Allowed, starts soon/],
  ['runs', { state: 'started', running: true, startedAt: now - 12_300, progressDone: 3, progressTotal: 10, progressMessage: 'third table' }, /Running, 12\u202fs.*3 of 10: third table.*Cancel/s],
  ['runs elsewhere', { state: 'started' }, /Started/],
  ['failed', { state: 'done', decision: 'once', isError: true, result: 'connection refused' }, /Failed/],
  ['was denied', { state: 'done', decision: 'deny', isError: true, result: 'not allowed' }, /Denied/],
  ['was denied permanently', { state: 'done', decision: 'never', isError: true }, /Denied/],
  ['was not run', { state: 'done', decision: 'not_run', isError: true }, /Not run/],
  ['is done', { state: 'done', decision: 'always', startedAt: 1_000, endedAt: 1_412 }, /Done in 412\u202fms/],
  ...(['cancelled', 'timeout', 'ended', 'unreadable', 'crash'] as const).map((reason): [string, Partial<ToolCallView>, RegExp] => [`is unknown: ${reason}`, { state: 'unknown', reason }, /Outcome unknown.*It is not run again automatically/s]),
];

describe('the card of a call', () => {
  afterEach(() => void vi.useRealTimers());

  it.each(states)('shows that it %s', async (_, call, text) => {
    vi.useFakeTimers({ toFake: ['Date'], now });
    const { card } = await renderCall(call)();
    expect(card.textContent).toMatch(text);
  });

  it('shows why the outcome is unknown, in the words of the program if it gives a reason', async () => {
    const { card } = await renderCall({ state: 'unknown', reason: 'crash', explanation: 'The machine lost its power.' })();
    expect(card).toHaveTextContent('The machine lost its power. It is not run again automatically.');
  });

  it('folds a finished call to a line, and expands it', async () => {
    const { card } = await renderCall({ state: 'done', decision: 'once', arguments: '{"sql":"select 1"}', result: 'one row' })();
    expect(card).toHaveTextContent('select 1');
    expect(card).not.toHaveTextContent('one row');
    await userEvent.click(within(card).getByRole('button', { expanded: false }));
    expect(card).toHaveTextContent('one row');
  });

  it('shows arguments by name and as JSON, and what was removed from them', async () => {
    const { card } = await renderCall({ arguments: '{\n  "sql": "select 1",\n  "limit": 5\n}', redactions: 2 })();
    expect(within(card).getByText('sql')).toBeVisible();
    expect(card).toHaveTextContent('2 secrets were removed before this was sent.');
    await userEvent.click(within(card).getByRole('button', { name: 'JSON' }));
    expect(card).toHaveTextContent('"limit": 5');
  });

  it('never renders a result as markup or a link', async () => {
    const { card } = await renderCall({ state: 'done', images: 1, result: '<b>bold</b> [x](https://e.example) <img src=x onerror=alert(1)>' })();
    expect(card).toHaveTextContent('<b>bold</b> [x](https://e.example) <img src=x onerror=alert(1)>');
    expect(card.querySelector('b, a, img')).toBeNull();
  });

  it('offers no decision about a call of another device', async () => {
    const { app, proposed } = await openWithCalls([{ state: 'proposed' }], (backend) => {
      for (const branch of backend.store.branches.values()) branch.view.foreign = true;
    });
    mountIn(app, CallCard, { call: proposed[0]! });
    const card = screen.getByRole('region', { name: /^Call to/ });
    expect(card).toHaveTextContent('finished there');
    expect(within(card).queryByRole('button', { name: /Deny|Allow/ })).toBeNull();
  });

  it('loads the whole result and its pictures on request', async () => {
    const { app, backend, proposed } = await openWithCalls([{ state: 'done', result: 'the beginning', resultMore: true, images: 1 }], () => undefined);
    backend.toolbox.keep(proposed[0]!.id, [block('text', 'the beginning and the end'), block('image', '', { data: 'data:image/png;base64,iVBORw0KGgo=' })]);
    mountIn(app, CallCard, { call: proposed[0]! });
    expect(await screen.findByAltText('Picture 1 of 1 in the result')).toBeVisible();
    await userEvent.click(screen.getByRole('button', { name: 'Show the whole result' }));
    expect(await screen.findByText('the beginning and the end')).toBeVisible();
  });

  it('cancels a running call', async () => {
    const { app, backend, proposed } = await openWithCalls([{}]);
    await app.tools.decide(proposed[0]!, { choice: 'once', server: false, hash: 'hash-staging-db-read_query' });
    mountIn(app, CallCard, { call: app.conversation.newest!.calls[0]! });
    await userEvent.click(screen.getByRole('button', { name: 'Cancel' }));
    await waitFor(() => expect(backend.toolbox.call(proposed[0]!.id)).toMatchObject({ state: 'unknown', reason: 'cancelled' }));
    expect(app.tools.waiting).toHaveLength(1);
  });
});

afterEach(() => void vi.restoreAllMocks());

describe('a decision', () => {
  const card = async () => {
    const all = await openWithCalls([{}]);
    mountIn(all.app, CallCard, { call: all.app.conversation.newest!.calls[0]! });
    return { ...all, group: screen.getByRole('group', { name: 'Decide about staging-db.read_query' }) };
  };

  it('begins with the arguments and the buttons; the schema follows', async () => {
    const { group } = await card();
    const follows = (first: Element, then: Element) => Boolean(first.compareDocumentPosition(then) & Node.DOCUMENT_POSITION_FOLLOWING);
    expect(follows(screen.getByText('Arguments'), group)).toBe(true);
    expect(follows(group, screen.getByRole('region', { name: 'Schema of read_query' }))).toBe(true);
  });

  it('shows the complete description and schema', async () => {
    await card();
    expect(screen.getByRole('region', { name: 'Description of read_query' })).toHaveTextContent('Runs a query that only reads.');
    expect(screen.getByRole('region', { name: 'Schema of read_query' })).toHaveTextContent('"required"');
  });

  it.each([['o', 'once'], ['s', 'session'], ['a', 'always'], ['d', 'deny'], ['n', 'never']])('is made with Alt+%s', async (letter, choice) => {
    const { backend, proposed } = await card();
    screen.getByRole('button', { expanded: true }).focus();
    await decideBy(letter);
    await waitFor(() => expect(decided(backend)).toEqual([{ callId: proposed[0]!.id, choice, server: false, hash: 'hash-staging-db-read_query' }]));
  });

  it('shows its keys, and none is preselected', async () => {
    const { group } = await card();
    const buttons = within(group).getAllByRole('button');
    expect(buttons.map((button) => button.getAttribute('aria-keyshortcuts'))).toEqual(['Alt+O', 'Alt+S', 'Alt+A', 'Alt+D', 'Alt+N']);
    expect(buttons.every((button) => !button.hasAttribute('aria-pressed'))).toBe(true);
  });

  it('applies to the whole server on request, only if it is permanent', async () => {
    const { backend, group } = await card();
    screen.getByRole('button', { expanded: true }).focus();
    await decideBy('t');
    expect(within(group).getByRole('radio', { name: 'All tools of “staging-db”' })).toBeChecked();
    await clickOn(/^Allow once/);
    expect(decided(backend)).toMatchObject([{ choice: 'once', server: false }]);
  });

  it.each(['o', 'd', 'a{Enter}', 'n{Enter}', 'so what{Enter}', 'oOsSaAdDnN can you say what the mill does?'])('is never made by typing: %s', async (typed) => {
    const { app, backend } = await card();
    screen.getByRole('button', { expanded: true }).focus();
    settle();
    await userEvent.keyboard(typed);
    expect(decided(backend)).toEqual([]);
    expect(app.tools.waiting).toHaveLength(1);
  });

  it('is made by keys only once the card has been in front for a moment, without other keys', async () => {
    const { backend } = await card();
    screen.getByRole('button', { expanded: true }).focus();
    await userEvent.keyboard('{Alt>}a{/Alt}');
    settle();
    await userEvent.keyboard('x{Alt>}a{/Alt}');
    expect(decided(backend)).toEqual([]);
    await decideBy('o');
    await waitFor(() => expect(decided(backend)).toMatchObject([{ choice: 'once' }]));
  });

  it('is not made by the second click of a double click that began elsewhere', async () => {
    const { backend, group } = await card();
    settle();
    await fireEvent.click(within(group).getByRole('button', { name: /^Always/ }), { detail: 2 });
    expect(decided(backend)).toEqual([]);
  });

  it.each([['the pointer', 1], ['Enter', 0]])('is made by a click of %s only once the card has been in front for a moment', async (_, detail) => {
    const { backend, group } = await card();
    const always = within(group).getByRole('button', { name: /^Always/ });
    await fireEvent.click(always, { detail });
    expect(decided(backend)).toEqual([]);
    settle();
    await fireEvent.keyDown(document.body, { key: 'Tab' }); // keys on the way to a button do not count against it
    await fireEvent.click(always, { detail });
    await waitFor(() => expect(decided(backend)).toMatchObject([{ choice: 'always' }]));
  });

  it('is not made by keys typed in a field, or with Ctrl', async () => {
    const { backend } = await card();
    settle();
    const field = document.body.appendChild(document.createElement('input'));
    field.focus();
    await userEvent.keyboard('oda{Alt>}o{/Alt}');
    field.remove();
    screen.getByRole('button', { expanded: true }).focus();
    await userEvent.keyboard('{Control>}a{/Control}');
    expect(decided(backend)).toEqual([]);
  });

  it('is requested again if the definition was changed meanwhile', async () => {
    const { backend } = await card();
    backend.toolbox.definitions[0]!.hash = 'another';
    await clickOn(/^Allow once/);
    expect(await screen.findByRole('alert')).toHaveTextContent(/has changed since it was shown.*The call still waits/s);
    await clickOn(/^Allow once/);
    await waitFor(() => expect(decided(backend).at(-1)).toMatchObject({ hash: 'another' }));
  });

  it('offers nothing permanent if every call needs a decision', async () => {
    const { app } = await openWithCalls([{ source: 'builtin', tool: 'write_file' }], (backend) => backend.toolbox.definitions.push(toolDefinition({ source: 'builtin', tool: 'write_file', asksEachCall: true })));
    mountIn(app, CallCard, { call: app.conversation.newest!.calls[0]! });
    expect(within(screen.getByRole('group', { name: 'Decide about write_file' })).getAllByRole('button').map((button) => button.textContent?.trim())).toEqual(['Allow onceAltO', 'DenyAltD', 'NeverAltN']);
  });
});

describe('a call whose tool is not loaded yet', () => {
  it('cannot be allowed before its definition is shown', async () => {
    const { card } = await renderCall({ state: 'proposed' })();
    expect(within(within(card).getByRole('group', { name: /^Decide about/ })).getAllByRole('button').map((button) => button.textContent?.trim())).toEqual(['DenyAltD', 'NeverAltN']);
  });
});

describe('a call of a tool that is no longer offered', () => {
  it('can only be denied', async () => {
    const { app } = await openWithCalls([{ tool: 'gone', explanation: 'The tool is not offered now.' }]);
    mountIn(app, CallCard, { call: app.conversation.newest!.calls[0]! });
    expect(within(screen.getByRole('group', { name: 'Decide about staging-db.gone' })).getAllByRole('button').map((button) => button.textContent?.trim())).toEqual(['DenyAltD', 'NeverAltN']);
    expect(screen.getByRole('region', { name: 'Call to staging-db.gone' })).toHaveTextContent('The tool is not offered now.');
  });
});

describe('a call whose outcome is unknown', () => {
  const unknown = async () => {
    const all = await openWithCalls([{ tool: 'run_job', state: 'unknown', reason: 'crash' }]);
    mountIn(all.app, CallCard, { call: all.app.conversation.newest!.calls[0]! });
    screen.getByRole('button', { expanded: true }).focus();
    return { ...all, call: () => all.backend.toolbox.call(all.proposed[0]!.id) };
  };

  it('shows the definition of the tool, since it may run again', async () => {
    await unknown();
    expect(screen.getByRole('region', { name: 'Description of run_job' })).toHaveTextContent('Runs a job.');
    expect(screen.getByRole('region', { name: 'Schema of run_job' })).toHaveTextContent('"required"');
  });

  it('cannot run again if the tool is no longer offered', async () => {
    const { app, backend, proposed } = await openWithCalls([{ tool: 'gone', state: 'unknown', reason: 'crash' }]);
    mountIn(app, CallCard, { call: app.conversation.newest!.calls[0]! });
    expect(screen.getByRole('region', { name: 'Call to staging-db.gone' })).toHaveTextContent('The tool is not offered now, so the call cannot run again.');
    expect(screen.queryByRole('button', { name: /^Run again/ })).toBeNull();
    screen.getByRole('button', { expanded: true }).focus();
    await decideBy('r');
    expect(backend.toolbox.call(proposed[0]!.id).state).toBe('unknown');
  });

  it('accepts a result that the user found out', async () => {
    const { call } = await unknown();
    await decideBy('e');
    await userEvent.type(await screen.findByRole('textbox', { name: /What the call did/ }), 'It was done at 13:58');
    await userEvent.keyboard('{Control>}{Enter}{/Control}');
    await waitFor(() => expect(call()).toMatchObject({ state: 'done', result: 'It was done at 13:58', isError: false }));
  });

  it('runs again, or is reported to the model, with a key', async () => {
    const first = await unknown();
    await decideBy('r');
    await waitFor(() => expect(first.call()).toMatchObject({ state: 'started', runs: 1 }));
    document.body.replaceChildren();
    const second = await unknown();
    await decideBy('t');
    await waitFor(() => expect(second.call()).toMatchObject({ state: 'done', isError: true }));
  });

  it('is discarded only after a confirmation', async () => {
    const { backend, turn } = await unknown();
    await decideBy('g');
    expect(backend.calls.some(({ name }) => name === 'chat.discard')).toBe(false);
    await userEvent.click(within(screen.getByRole('dialog', { name: 'Discard this turn?' })).getByRole('button', { name: 'Discard' }));
    await waitFor(() => expect(backend.calls.find(({ name }) => name === 'chat.discard')?.args).toEqual([turn.id]));
  });
});

describe('the queue', () => {
  it('is shown above the composer, without taking the focus', async () => {
    const { app, backend, turn } = await openWithCalls([]);
    mountIn(app, WaitingStrip, {});
    const field = document.body.appendChild(document.createElement('textarea'));
    field.focus();
    backend.toolbox.propose(turn, [{}, { tool: 'run_job', state: 'unknown' }]);
    expect(await screen.findByText(/1 tool call waits for you, 1 call ended with an unknown outcome/)).toBeVisible();
    expect(field).toHaveFocus();
    field.remove();
    await userEvent.click(screen.getByRole('button', { name: 'Decide' }));
    expect(app.tools.open).toBe(true);
  });

  const queue = async () => {
    const all = await openWithCalls([{ createdAt: 1 }, { createdAt: 2, tool: 'run_job' }]);
    all.app.tools.show();
    mountIn(all.app, QueueDialog, {});
    await waitFor(() => expect(screen.getByRole('button', { expanded: true })).toHaveFocus());
    return all;
  };

  it('goes from one decision to the next, and closes after the last', async () => {
    const { app, backend, proposed } = await queue();
    await decideBy('d');
    await waitFor(() => expect(screen.getByRole('button', { expanded: true })).toHaveTextContent('run_job'));
    expect(screen.getByRole('button', { expanded: true })).toHaveFocus();
    await decideBy('s');
    await waitFor(() => expect(app.tools.open).toBe(false));
    expect(decided(backend)).toMatchObject([{ callId: proposed[0]!.id, choice: 'deny' }, { callId: proposed[1]!.id, choice: 'session' }]);
  });

  it('never decides about the next call by keys meant for the first', async () => {
    const { backend, proposed } = await queue();
    await decideBy('d');
    await waitFor(() => expect(screen.getByRole('button', { expanded: true })).toHaveTextContent('run_job'));
    await userEvent.keyboard('{Alt>}a{/Alt}can you say what the mill does?');
    expect(decided(backend)).toMatchObject([{ callId: proposed[0]!.id, choice: 'deny' }]);
    expect(decided(backend)).toHaveLength(1);
  });

  it('ignores a click that was meant for a call decided elsewhere, which the next one replaces', async () => {
    const { app, backend, proposed } = await queue();
    settle(); // the user has read the first
    await app.tools.decide(proposed[0]!, { choice: 'deny', server: false, hash: 'hash-staging-db-read_query' });
    await waitFor(() => expect(screen.getByRole('button', { expanded: true })).toHaveTextContent('run_job'));
    await userEvent.click(screen.getByRole('button', { name: /^Always/ }));
    expect(decided(backend)).toHaveLength(1);
    await clickOn(/^Always/);
    await waitFor(() => expect(decided(backend)).toMatchObject([{ choice: 'deny' }, { callId: proposed[1]!.id, choice: 'always' }]));
  });

  it('ignores the arrow keys once every call was decided elsewhere', async () => {
    const { app, proposed } = await queue();
    for (const call of proposed) await app.tools.decide(call, { choice: 'deny', server: false, hash: `hash-staging-db-${call.tool}` });
    await screen.findByRole('dialog', { name: 'No tool calls are waiting' });
    (document.activeElement as HTMLElement).blur();
    const failed = vi.fn((event: Event) => event.preventDefault());
    window.addEventListener('error', failed);
    await userEvent.keyboard('{ArrowDown}');
    window.removeEventListener('error', failed);
    expect(failed).not.toHaveBeenCalled();
  });

  it('handles its keys after a click on an empty area, which leaves nothing focused', async () => {
    const { backend } = await queue();
    (document.activeElement as HTMLElement).blur();
    await decideBy('d');
    await waitFor(() => expect(decided(backend)).toMatchObject([{ choice: 'deny' }]));
    (document.activeElement as HTMLElement).blur();
    const above = document.body.appendChild(document.createElement('dialog'));
    above.open = true;
    await decideBy('d');
    above.remove();
    expect(decided(backend)).toHaveLength(1);
  });

  it('opens the conversation of a call', async () => {
    const { app, proposed } = await openWithCalls([{}]);
    const { sessionId } = app.conversation;
    await app.navigation.newSession();
    app.tools.show();
    mountIn(app, QueueDialog, {});
    await userEvent.click(screen.getByRole('button', { name: 'Go to it' }));
    await waitFor(() => expect(app.conversation.sessionId).toBe(sessionId));
    await waitFor(() => expect(app.conversation.intent.turnId).toBe(proposed[0]!.turnId));
  });

  it.each<[ToolCallState[], string]>([[['proposed'], '1 tool call waits for you'], [['proposed', 'proposed'], '2 tool calls wait for you'], [['unknown'], '1 call ended with an unknown outcome'], [['unknown', 'proposed', 'unknown'], '1 tool call waits for you, 2 calls ended with an unknown outcome']])('is put in words: %s', (kinds, text) => {
    expect(queueText(kinds.map((state) => ({ call: toolCall({ state }) })))).toBe(text);
  });
});

describe('the page of tools', () => {
  const page = async () => {
    const { app, backend } = await startedApp({ tools: true });
    seedServers(backend.store, backend.mcp);
    const { container } = mountIn(app, ToolsPage, { settings: [], editor: new SettingsEditor(backend) });
    await screen.findByRole('region', { name: 'files' });
    return { app, backend, container, files: screen.getByRole('region', { name: 'files' }) };
  };

  it('shows tools and servers together, so that nothing moves while the page loads', async () => {
    const { app, backend } = await startedApp({ tools: true });
    seedServers(backend.store, backend.mcp);
    const release = backend.hold('servers.servers');
    const { container } = mountIn(app, ToolsPage, { settings: [], editor: new SettingsEditor(backend) });
    await waitFor(() => expect(backend.calls.some(({ name }) => name === 'tools.panel')).toBe(true));
    await new Promise((resolve) => setTimeout(resolve));
    expect(container.querySelector('section')).toBeNull();
    release();
    const files = await screen.findByRole('region', { name: 'files' });
    expect(within(files).getByText('edit_file')).toBeVisible();
  });

  it('shows what happened to a server while the page loaded', async () => {
    const { app, backend } = await startedApp({ tools: true });
    const release = backend.hold('tools.panel');
    mountIn(app, ToolsPage, { settings: [], editor: new SettingsEditor(backend) });
    await waitFor(() => expect(backend.calls.some(({ name }) => name === 'servers.servers')).toBe(true));
    await new Promise((resolve) => setTimeout(resolve)); // the servers are here, the tools are not
    backend.mcp.find('files').lastError = 'It has ended.';
    backend.mcp.changed('files');
    release();
    expect(await within(await screen.findByRole('region', { name: 'files' })).findByText('It has ended.')).toBeVisible();
  });

  it('shows the tools of servers also if these cannot be loaded', async () => {
    const { app, backend } = await startedApp({ tools: true });
    backend.failNext('servers.servers', { message: 'The servers cannot be read.' });
    mountIn(app, ToolsPage, { settings: [], editor: new SettingsEditor(backend) });
    expect(await screen.findByText('The servers cannot be read.')).toBeVisible();
    expect(within(screen.getByRole('region', { name: 'files' })).getByText('edit_file')).toBeVisible();
    await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
    await waitFor(() => expect(screen.queryByText('The servers cannot be read.')).toBeNull());
    expect(within(await screen.findByRole('region', { name: 'files' })).getByText('edit_file')).toBeVisible(); // once, with its server
  });

  it('shows what changed in a definition, and accepts exactly what it showed', async () => {
    const { backend, files } = await page();
    await userEvent.click(within(files).getByText('edit_file'));
    expect(within(files).getByRole('group', { name: 'Changes from what you accepted to what it says now' })).toHaveTextContent('read ~/.ssh');
    await userEvent.click(within(files).getByRole('button', { name: 'Accept' }));
    await waitFor(() => expect(backend.calls.find(({ name }) => name === 'tools.accept')?.args).toEqual(['files', 'edit_file', 'new']));
    await waitFor(() => expect(within(files).queryByText('Changed')).toBeNull());
  });

  it('sets the permission for the calls of a tool', async () => {
    const { backend } = await page();
    const db = screen.getByRole('region', { name: 'staging-db' });
    await userEvent.click(within(db).getByText('run_job'));
    await userEvent.click(within(db).getByRole('radio', { name: 'Always allow' }));
    await waitFor(() => expect(backend.calls.find(({ name }) => name === 'tools.setPermission')?.args).toEqual(['staging-db', 'run_job', '', 'always', 'hash-staging-db-run_job']));
    await userEvent.click(within(db).getByRole('checkbox', { name: 'It has no effects' }));
    await waitFor(() => expect(backend.calls.find(({ name }) => name === 'tools.markReadOnly')?.args).toEqual(['staging-db', 'run_job', 'hash-staging-db-run_job']));
  });

  it('revokes a decision, but not one of the configuration', async () => {
    const { backend } = await page();
    expect(screen.queryByRole('button', { name: 'Forget: All tools of “search”' })).toBeNull();
    await userEvent.click(screen.getByRole('button', { name: 'Forget: files.delete_file' }));
    await waitFor(() => expect(backend.toolbox.permissions.map(({ tool }) => tool)).toEqual(['list_tables', '']));
  });

  it('shows what cannot be used', async () => {
    const { container } = await page();
    expect(container).toHaveTextContent('notes.searchIts schema is no JSON object');
  });
});

describe('texts from others', () => {
  it('hide nothing', () => {
    expect(showInvisible('a\u202eb\u200bc\u{e0041}\r\nd\te\u001b[31m')).toBe('a⟨U+202E⟩b⟨U+200B⟩c⟨U+E0041⟩\nd\te⟨U+001B⟩[31m');
    expect(showInvisible('Grüße, 你好, 👍🏽')).toBe('Grüße, 你好, 👍🏽');
  });

  it('are shown by name, with replacements as pairs', () => {
    expect(argumentsOf('{"path":"a","old_string":"x","new_string":"y"}')).toEqual({ values: [{ name: 'path', value: 'a' }], replacements: [{ old: 'old_string', now: 'new_string', before: 'x', after: 'y' }], note: '' });
    expect(argumentsOf('{"edits":[{"oldText":"x","newText":"y"},{"oldText":"v","newText":"w"}]}').replacements).toHaveLength(2);
    expect(argumentsOf('{"edits":[{"oldText":"x"}]}')).toEqual({ values: [{ name: 'edits', value: '[\n  {\n    "oldText": "x"\n  }\n]' }], replacements: [], note: '' });
    expect(argumentsOf('{"edits":[{"oldText":"x","newText":"y","path":"/home/me/.bashrc"}]}').replacements).toEqual([]);
    expect(argumentsOf('{"old":"a","new":"b","replacement":{"x":1},"after":["x"]}')).toEqual({ values: [{ name: 'replacement', value: '{\n  "x": 1\n}' }, { name: 'after', value: '[\n  "x"\n]' }], replacements: [{ old: 'old', now: 'new', before: 'a', after: 'b' }], note: '' });
    expect(argumentsOf('{"old":"a","new":"a"}')).toEqual({ values: [{ name: 'old', value: 'a' }, { name: 'new', value: 'a' }], replacements: [], note: '' });
    expect(argumentsOf('[1]').values).toBeNull();
    expect(argumentsOf('{"a":').values).toBeNull();
    expect(argumentLine('{"a":"one\\ntwo","b":3}')).toBe('one two 3');
  });

  it('are compared to the last space', () => {
    const changes = (before: string, after: string) => lineDiff(before, after).map((row) => row.new?.change ?? row.old?.change);
    expect(changes('a\n  b', 'a\n b')).toEqual(['same', 'add']);
    expect(changes('- a', 'a')).toEqual(['add']);
    expect(changes('', 'a')).toEqual(['add']);
    expect(lineDiff(Array.from({ length: 30 }, (_, i) => `${i}`).join('\n'), `${Array.from({ length: 30 }, (_, i) => `${i}`).join('\n')}\nend`).map((row) => row.new?.pieces[0]?.text)).toEqual(['… 27 lines unchanged', '27', '28', '29', 'end']);
    expect(previewRows(' a\n-b\n+c\n').map((row) => [row.old?.change, row.new?.change])).toEqual([['same', undefined], ['del', undefined], [undefined, 'add']]);
  });
});

describe('calls and their blocks', () => {
  it('are matched by id, and by order if a provider repeats an id', () => {
    const calls = [toolCall({ id: 'a', toolUseId: 'x' }), toolCall({ id: 'b', toolUseId: 'x' })];
    const blocks = [block('tool_use', '{}', { id: 'x' }), block('tool_result', '', { id: 'x' }), block('text', ''), block('tool_use', '{}', { id: 'x' }), block('tool_use', '{}', { id: 'y' })];
    expect([...callsByBlock(blocks, calls)].map(([index, call]) => [index, call?.id ?? null])).toEqual([[0, 'a'], [1, null], [3, 'b']]);
  });

  it('say that an outcome is unknown, not that it failed, also once the model knows', () => {
    const told = toolCall({ state: 'done', isError: true, outcomeUnknown: true });
    expect([callState(told, 0).label, callState({ ...told, outcomeUnknown: false }, 0).label]).toEqual(['Outcome unknown', 'Failed']);
  });

  it('count the seconds of a running one', () => {
    expect(callState(toolCall({ state: 'started', running: true, startedAt: 0 }), 61_400).label).toBe('Running, 1\u202fmin 1\u202fs');
  });
});
