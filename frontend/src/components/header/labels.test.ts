import { screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';
import type { Header as HeaderView, SwitchPreview } from '$lib/backend/types';
import { mountIn, startedApp } from '../../test/mount';
import BranchDialogs from '../branches/BranchDialogs.svelte';
import ModelPicker from '../models/ModelPicker.svelte';
import Header from './Header.svelte';
import { chooseLanguage } from '$lib/i18n/i18n.svelte';
import { answerWord, contextParts, contextTitle, headText, pendingText, phaseRuns, phaseText, phaseTone, phaseWord, streamBytes, streamState, switchText } from './labels';

const n = '\u202f';

describe('texts of the header', () => {
  it('shows durable bytes first, with grouped digits', () => {
    expect(streamBytes(2948, 3412)).toBe(`2${n}948 / 3${n}412 B`);
    expect(streamBytes(1_234_567, 1_234_567)).toBe(`1${n}234${n}567 / 1${n}234${n}567 B`);
  });

  it.each([
    [0, 0, 'Done', 'durable'], // imported
    [10, 12, 'Responding', 'buffered'], [12, 12, 'Responding', 'durable'], [0, 1, 'Responding', 'buffered'],
    [0, 0, 'Responding', 'waiting'], [0, 0, '', 'idle'], [10, 12, 'Failed', 'buffered'],
  ])('%d of %d in phase %s is %s', (durable, displayed, phase, word) => expect(streamState(durable, displayed, phase, phaseRuns(phase, ''))).toBe(word));

  it('has the number of the state and the exact phase', () => {
    expect(headText({ headSeq: 7, headShortId: '9K4T', coveredSeq: 148 })).toBe('#7 9K4T, up to turn 148');
    expect(headText({ headSeq: 0, headShortId: 'ROOT', coveredSeq: 0 })).toBe('#0, no turn summarized yet');
    expect([phaseText(150, 'ResponseFinalized', 'completed'), phaseText(1, 'Done', 'completed'), phaseText(1, 'Responding', 'incomplete')])
      .toEqual(['#150 ResponseFinalized (Answered)', '#1 Done', '#1 Responding (Incomplete)']);
  });

  it.each([
    [[12_420, 50_000, 2, 0], { main: `12.4k / 50k (25${n}%)`, summaries: '[2S]' }],
    [[12_420, 50_000, 0, 3], { main: `12.4k / 50k (25${n}%)`, summaries: '[3E]' }],
    [[12_420, 50_000, 2, 3], { main: `12.4k / 50k (25${n}%)`, summaries: '[2S 3E]' }],
    [[0, 50_000, 0, 0], { main: `0 / 50k (0${n}%)`, summaries: '' }],
    [[0, 0, 0, 0], { main: '', summaries: '' }],
  ] as const)('says how full the context is: %j', ([contextTokens, contextCeiling, summaries, extracts], parts) => expect(contextParts({ contextTokens, contextCeiling, summaries, extracts })).toEqual(parts));

  it('writes the numbers of the context in the language of the window', async () => {
    await chooseLanguage('de', []);
    expect(contextParts({ contextTokens: 27_330, contextCeiling: 1_250_000, summaries: 0, extracts: 0 }).main).toBe('27,3k / 1,3M (2\u00a0%)');
    await chooseLanguage('en', []);
  });

  it.each([
    ['', '', 'No turn yet', false], ['Accepted', '', 'Accepted', true], ['ContextPrepared', '', 'Preparing', true], ['Responding', '', 'Responding', true],
    ['Responding', 'incomplete', 'Incomplete', false], ['Responding', 'unsaved', 'Not saved yet', false], ['ResponseFinalized', 'completed', 'Answered', false], ['Done', 'completed', 'Done', false],
    ['Failed', 'discarded', 'Discarded', false], ['Failed', 'failed', 'Failed', false],
  ])('phase %s %s', (phase, outcome, word, runs) => expect([phaseWord(phase, outcome), phaseRuns(phase, outcome)]).toEqual([word, runs]));

  it.each([
    ['Responding', 'incomplete', 'warn'], ['Failed', 'failed', 'danger'], ['Failed', 'discarded', undefined], ['Responding', '', undefined], ['Done', 'completed', undefined],
  ])('phase %s %s asks for attention: %s', (phase, outcome, tone) => expect(phaseTone(phase, outcome)).toBe(tone));

  it.each([[0, 'None'], [1, '1 turn'], [2, '2 turns']])('%d pending', (count, text) => expect(pendingText(count)).toBe(text));
});

describe('texts for users who do not know the phases', () => {
  it.each([['', '', 'No message yet'], ['Responding', '', 'Answering'], ['StateCommitted', 'completed', 'Saved'], ['Responding', 'incomplete', 'Incomplete'], ['Failed', 'failed', 'Failed']])(
    'phase %s %s is %s', (phase, outcome, word) => expect(answerWord(phase, outcome)).toBe(word));
});

describe('the context meter', () => {
  const header = { contextTokens: 7_900, contextCeiling: 8_000, contextRecalled: 0, contextState: 'plenty', summaries: 0, extracts: 0, infinity: true } as HeaderView;
  it('shows how much of it is recalled memory', () => {
    expect(contextTitle({ ...header, contextRecalled: 3_100 })).toMatch(/\(plenty\)\. 3.100 of them are recalled memory, which is left out/);
    expect(contextTitle(header)).not.toMatch(/recalled/);
  });

  it.each([[1, 0, '1 range summary replaces'], [2, 0, '2 range summaries replace'], [0, 3, '3 extracts replace'], [2, 1, '2 range summaries and 1 extract replace']])(
    'labels summaries and extracts correctly: %i and %i', (summaries, extracts, start) => expect(contextTitle({ ...header, summaries, extracts })).toContain(`${start} the oldest turns.`));
});

describe('switching the model', () => {
  const preview = (more: Partial<SwitchPreview>): SwitchPreview => ({ model: 'local', kind: '', oldCeiling: 0, newCeiling: 0, oldTokens: 5_000, newTokens: 5_000, returning: 0, compressed: 0, needsSummarization: false, unsummarized: 0, dropped: 0, cost: null, message: 'Nothing changes.', error: null, ...more });
  it.each([
    [{}, 'Nothing changes.'],
    [{ returning: 2, cost: 0.031 }, '2 turns return in full. The next input costs about $0.031, before the answer.'],
    [{ returning: 1, newTokens: 6_200 }, `1 turn returns in full. Each request costs 1${n}200 tokens more.`],
    [{ compressed: 40, newTokens: 3_000 }, `40 turns will be represented by summaries; the transcript is complete, and a larger model gets them in full again. Each request costs 2${n}000 tokens less.`],
    [{ compressed: 40, needsSummarization: true, unsummarized: 12 }, '40 turns will be represented by summaries; the transcript is complete, and a larger model gets them in full again. This needs summarization: 12 turns have no range summary yet, so extracts are sent until range summaries are made in the background.'],
    [{ needsSummarization: true, dropped: 1 }, 'This needs summarization: 1 pending turn is left out until summarized.'],
  ])('shows the effects', (more, text) => expect(switchText(preview(more))).toBe(text));

  const openSwitchDialog = async () => {
    const { app, backend } = await startedApp({ data: 'rich' });
    await app.navigation.openSession([...backend.store.sessions.values()].find((session) => session.row.title === 'Orders to Postgres')!.row.id);
    mountIn(app, Header, {});
    void app.modelSwitch.ask('local');
    return { app, backend, dialog: await screen.findByRole('dialog', { name: 'Switch to local?' }) };
  };

  it('needs a confirmation', async () => {
    const { app, backend, dialog } = await openSwitchDialog();
    expect(dialog).toHaveTextContent(/146 turns will be represented by summaries.*6.144 tokens/s);
    expect(backend.store.session(app.conversation.sessionId).model).toBe('sonnet');
    await userEvent.click(screen.getByRole('button', { name: 'Switch' }));
    await expect.poll(() => app.conversation.model).toBe('local');
    expect(screen.queryByRole('dialog')).toBeNull();
  });

  it('can be cancelled, and a failure is shown in the dialog', async () => {
    const { app, backend } = await openSwitchDialog();
    backend.failNext('chat.setModel', { message: 'The disk is full' });
    await userEvent.click(screen.getByRole('button', { name: 'Switch' }));
    expect(await screen.findByRole('alert')).toHaveTextContent('The disk is full');
    await userEvent.click(screen.getByRole('button', { name: 'Keep sonnet' }));
    expect([screen.queryByRole('dialog'), app.conversation.model]).toEqual([null, 'sonnet']);
  });
});

describe('the header', () => {
  it('says when unlimited history is off', async () => {
    const { app, backend } = await startedApp();
    backend.store.infinity = false;
    await app.navigation.openSession(app.conversation.sessionId);
    mountIn(app, Header, {});
    expect(screen.getByRole('button', { name: /^Context.*plain chat/ })).toHaveAttribute('title', expect.stringContaining('Unlimited history is off'));
  });

  const openRich = async () => {
    const { app, backend } = await startedApp({ data: 'rich' });
    await app.navigation.openSession([...backend.store.sessions.values()].find((session) => session.row.title === 'Orders to Postgres')!.row.id);
    mountIn(app, Header, {});
    return app;
  };

  it('says little at rest, and one click shows every mandatory field, each of which opens its details', async () => {
    const app = await openRich();
    expect(screen.getByRole('group', { name: 'State of this session' })).not.toHaveTextContent(/#148|#149|Pending| B\b/);
    const status = screen.getByRole('button', { name: /^Status Saved/ });
    const values = ['Session and branch: Orders to Postgres / dual-write', 'Head: #149 9K4T, up to turn 148', 'Pending: 2 turns', 'Turn: #150 ResponseFinalized (Answered)', `Stream: 714 / 714 B, durable`];
    expect(status.title.split('\n')).toEqual(values);
    for (const [value, tab] of values.map((value, i) => [value, ['branches', 'state', 'state', 'activity', 'activity'][i]] as const)) {
      await userEvent.click(status);
      await userEvent.click(screen.getByRole('menuitem', { name: value.replace(': ', ' ') }));
      expect(app.inspector.tab).toBe(tab);
    }
    await userEvent.click(screen.getByRole('button', { name: /^Context.*nearly full/ }));
    expect(app.inspector.tab).toBe('xray');
    expect(screen.getByRole('button', { name: /^Model sonnet/ })).toBeVisible();
    expect(screen.getByRole('button', { name: /Orders to Postgres dual-write/ })).toBeVisible();
  });

  it('shows the bytes and that some are buffered while an answer arrives, and none before and after', async () => {
    const { app, backend } = await startedApp();
    mountIn(app, Header, {});
    expect(screen.getByRole('button', { name: 'Status No message yet' })).toBeVisible();
    const turn = backend.store.addTurn(app.conversation.branchId, { state: 'responding', phase: 'Responding', outcome: '', live: true, liveStep: 'p1', liveSeq: 3, displayed: 3_412, durable: 2_948 });
    await app.navigation.openSession(app.conversation.sessionId);
    const status = await screen.findByRole('button', { name: `Stream buffered 2${n}948 / 3${n}412 B` });
    await userEvent.click(status);
    expect(screen.getByRole('menuitem', { name: /^Stream/ })).toHaveTextContent('2 948 / 3 412 B, buffered');
    expect(screen.getByRole('menuitem', { name: /^Turn/ })).toHaveTextContent('#1 Responding');
    Object.assign(turn, { state: 'head', phase: 'Done', outcome: 'completed', live: false, liveStep: '', durable: 3_412 });
    backend.store.touch(turn);
    expect(await screen.findByRole('button', { name: 'Status Saved' })).toBeVisible();
  });

  it('opens the one chooser of models, which lists unusable ones with the reason', async () => {
    const { app } = await startedApp();
    mountIn(app, Header, {});
    mountIn(app, ModelPicker, {});
    await userEvent.click(screen.getByRole('button', { name: /^Model sonnet/ }));
    expect(screen.queryByRole('menu')).toBeNull();
    expect(app.modelPicker.open).toBe(true);
    const unusable = screen.getByRole('button', { name: /^gpt/ });
    expect(unusable).toHaveTextContent('There is no key for openai');
    expect(unusable).toBeDisabled();
  });

  it('forks under a name and switches back', async () => {
    const { app, backend } = await startedApp();
    backend.store.addTurn(app.conversation.branchId, { state: 'head' });
    await app.navigation.openSession(app.conversation.sessionId);
    const main = app.conversation.branchId;
    mountIn(app, Header, {});
    mountIn(app, BranchDialogs, {});
    expect(screen.queryByText('main')).toBeNull(); // a word of the ledger, before there is a second branch
    await userEvent.click(screen.getByTitle(/^Switch branch/));
    await userEvent.click(screen.getByRole('button', { name: /Fork from here/ }));
    await userEvent.type(screen.getByRole('textbox', { name: 'Name' }), 'second try{Enter}');
    await expect.poll(() => app.conversation.header?.branchLabel).toBe('second try');
    await userEvent.click(screen.getByRole('button', { name: /second try/ }));
    await userEvent.click(screen.getByRole('button', { name: /^main 1 turn/ }));
    await expect.poll(() => app.conversation.branchId).toBe(main);
  });
});
