import { screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';
import { modelView } from '$lib/backend/fake/shapes';
import { offerView } from '$lib/backend/fake/presets';
import type { ToolCallView, TurnView } from '$lib/backend/types';
import { mountIn, startedApp } from '../../test/mount';
import Chat from '../shell/Chat.svelte';
import { abilityText, choiceGroups, priceText, windowWord } from './labels';

const calls = (backend: Awaited<ReturnType<typeof startedApp>>['backend'], name: string) => backend.calls.filter((call) => call.name === name).map((call) => call.args);

describe('texts about models', () => {
  it('contain only what is known', () => {
    expect([windowWord(200_000), windowWord(8_192, 'unknown window'), windowWord(0), windowWord(900), windowWord(32_768), windowWord(131_072), windowWord(128_000)]).toEqual(['200k', '?', '?', '900', '32k', '128k', '128k']);
    expect(abilityText({ images: 'yes', tools: '', reasoning: 'no' })).toBe('images');
    expect(priceText({ priceInput: 3, priceOutput: 15, priceSource: 'configured', local: false })).toBe('$3 in, $15 out');
    expect(priceText({ priceInput: 3, priceOutput: 15, priceSource: 'list 2026-08-05', local: false })).toBe('about $3 in, $15 out');
    expect(priceText({ priceInput: 0, priceOutput: 0, priceSource: '', local: false })).toBe('');
    expect(priceText({ priceInput: 0, priceOutput: 0, priceSource: '', local: true })).toBe('runs here');
    expect(priceText({ priceInput: 3, priceOutput: 15, priceSource: 'server', local: true })).toBe('about $3 in, $15 out');
    expect(priceText({ priceInput: 0, priceOutput: 0, priceSource: 'server', local: true })).toBe('no cost');
  });

  it('put favourites first, then recent ones, then the others, then those of each place', () => {
    const models = ['a', 'b', 'c'].map((name) => modelView({ name, provider: 'chatcompletions', modelId: `${name}-id`, favourite: name === 'c' }));
    const place = { id: 'p', name: 'Place', protocol: 'chatcompletions', baseUrl: '', env: '', local: false };
    const offers = Array.from({ length: 100 }, (_, i) => offerView({ modelId: `m${i}` }));
    const groups = choiceGroups(models, ['b', 'gone'], [{ place, offers: [...offers, offerView({ modelId: 'a-id', configured: 'a' })], error: null, loading: false }], '');
    expect(groups.map((group) => [group.title, group.choices.length, group.more])).toEqual([['Favourites', 1, 0], ['Recent', 1, 0], ['Your models', 1, 0], ['More from Place', 60, 40]]);
    expect(choiceGroups(models, [], [{ place, offers, error: null, loading: false }], 'PLACE m99').flatMap((group) => group.choices.map((choice) => choice.name))).toEqual(['m99']);
  });
});

describe('choosing a model beside the message', () => {
  const open = async () => {
    const { app, backend } = await startedApp({ localServers: [{ name: 'Ollama', baseUrl: 'http://127.0.0.1:11434/v1', models: ['llama3.3:70b'] }] });
    mountIn(app, Chat, {});
    await userEvent.click(screen.getByRole('button', { name: /^Model and effort: sonnet/ }));
    return { app, backend, dialog: await screen.findByRole('dialog', { name: 'Model and effort' }) };
  };

  it('applies to the next message only', async () => {
    const { app, backend, dialog } = await open();
    await userEvent.click(within(dialog).getByRole('radio', { name: 'Next message only' }));
    await userEvent.selectOptions(within(dialog).getByRole('combobox', { name: 'Reasoning effort' }), 'High');
    await userEvent.click(within(dialog).getByRole('button', { name: /^local/ }));
    expect(await screen.findByRole('button', { name: 'Model and effort: local, high effort, this message' })).toBeVisible();
    expect(backend.store.session(app.conversation.sessionId).model).toBe('sonnet');
    app.draft.typed = 'Hello';
    await app.composer.send();
    app.draft.typed = 'Again';
    expect(calls(backend, 'chat.send').map(([request]) => [(request as { model: string }).model, (request as { effort: string }).effort])).toEqual([['local', 'high']]);
    expect(app.composer.once).toBeNull();
  });

  it('marks the chosen ones of several, and what is typed after a click continues the search', async () => {
    const { dialog } = await open();
    await userEvent.click(within(dialog).getByRole('radio', { name: 'Several models' }));
    await userEvent.click(within(dialog).getByRole('button', { name: /^local/ }));
    for (const name of [/^sonnet/, /^local/]) expect(within(dialog).getByRole('button', { name, pressed: true }).querySelector('svg')).not.toBeNull();
    expect(within(dialog).getByRole('button', { name: /^recall/ }).querySelector('svg')).toBeNull();
    await userEvent.keyboard('reca');
    expect(within(dialog).getByRole('searchbox', { name: 'Search all models' })).toHaveValue('reca');
  });

  it('from now on, with a model that is added by choosing it', async () => {
    const { app, backend, dialog } = await open();
    await userEvent.type(within(dialog).getByRole('searchbox', { name: 'Search all models' }), 'opus');
    const offered = await within(dialog).findByRole('button', { name: /^claude-opus/ });
    expect(offered).toHaveTextContent('images, tools, reasoning · about $5 in, $25 out');
    await userEvent.selectOptions(within(dialog).getByRole('combobox', { name: 'Reasoning effort' }), 'Low');
    await userEvent.click(offered);
    await waitFor(() => expect(calls(backend, 'settings.addOffered')).toEqual([['anthropic', 'claude-opus']]));
    await expect.poll(() => backend.store.session(app.conversation.sessionId).settings.effort).toBe('low');
    await expect.poll(() => app.modelPicker.recent[0]).toBe('claude-opus');
  });

  it('uses what the search lists, not the model that it hides', async () => {
    const { app, dialog } = await open();
    expect(within(dialog).getByRole('button', { name: 'Use sonnet' })).toBeEnabled();
    const field = within(dialog).getByRole('searchbox', { name: 'Search all models' });
    await userEvent.type(field, 'nothing like it');
    expect(within(dialog).getByRole('button', { name: 'Use a model' })).toBeDisabled();
    await userEvent.clear(field);
    await userEvent.type(field, 'loca');
    await userEvent.click(within(dialog).getByRole('button', { name: 'Use local' }));
    await waitFor(() => expect(app.conversation.model).toBe('local'));
    expect(app.modelPicker.open).toBe(false);
  });

  it('marks a model as favourite, and shows which place does not respond', async () => {
    const { backend, dialog } = await open();
    backend.failNext('settings.offeredModels', { message: 'The models could not be listed' });
    await userEvent.click(within(dialog).getByRole('button', { name: 'Favourite: local' }));
    expect(await within(dialog).findByRole('region', { name: 'Favourites' })).toHaveTextContent('local');
    expect(calls(backend, 'settings.setFavourite')).toEqual([['local', true]]);
  });
});

describe('unknown properties are asked once', () => {
  it('the context window of a model, and the answer is stored', async () => {
    const { app, backend } = await startedApp();
    backend.program.models = backend.program.models.map((model) => (model.name === 'sonnet' ? { ...model, limitSource: 'unknown window', contextLimit: 8_192 } : model));
    await app.models.load();
    mountIn(app, Chat, {});
    expect(screen.getByText('How much text can sonnet process at once?')).toBeVisible();
    await userEvent.type(screen.getByRole('textbox', { name: 'Context window of sonnet in tokens' }), '64 000{Enter}');
    await waitFor(() => expect(screen.queryByText('How much text can sonnet process at once?')).toBeNull());
    expect(calls(backend, 'settings.setWindow')).toEqual([['sonnet', 64_000]]);
  });

  const unknownAbilities = async (overrides: Partial<ReturnType<typeof modelView>> = {}) => {
    const { app, backend } = await startedApp();
    backend.program.models = backend.program.models.map((model) => (model.name === 'sonnet' ? { ...model, provider: 'chatcompletions', baseUrl: 'http://127.0.0.1:1234/v1', images: '', tools: '', ...overrides } : model));
    await app.models.load();
    mountIn(app, Chat, {});
    return { app, backend };
  };

  it('whether a model supports images, when there is one to send', async () => {
    const { app, backend } = await unknownAbilities();
    expect(screen.queryByText('Does sonnet accept images?')).toBeNull();
    app.draft.images = [{ mediaType: 'image/png', data: 'iVBORw0KGgo=', name: 'a.png' }];
    const question = (await screen.findByText('Does sonnet accept images?')).closest<HTMLElement>('.notice-place')!;
    await userEvent.click(within(question).getByRole('button', { name: 'No' }));
    expect(await screen.findByText('sonnet does not accept images')).toBeVisible();
    expect(screen.queryByText('Does sonnet accept images?')).toBeNull();
    expect(calls(backend, 'settings.saveModel')).toMatchObject([[{ name: 'sonnet', images: 'no', tools: '' }]]);
  });

  it('whether it calls tools, if tools are enabled', async () => {
    const { app, backend } = await unknownAbilities();
    expect(screen.queryByText('Can sonnet call tools?')).toBeNull();
    await backend.tools.setSessionMode(app.conversation.sessionId, 'enabled');
    const question = (await screen.findByText('Can sonnet call tools?')).closest<HTMLElement>('.notice-place')!;
    await userEvent.click(within(question).getByRole('button', { name: "I don’t know" }));
    expect(screen.queryByText('Can sonnet call tools?')).toBeNull();
    expect(calls(backend, 'settings.saveModel')).toEqual([]);
  });

  it.each<[string, Partial<TurnView> & Pick<TurnView, 'state'>, Partial<ToolCallView>[]]>([
    ['while an answer is on its way', { state: 'responding', live: true }, []],
    ['of a model that has called one', { state: 'head' }, [{ state: 'done' }]],
  ])('no tools are asked about %s', async (_, turn, calls) => {
    const { app, backend } = await unknownAbilities();
    await backend.tools.setSessionMode(app.conversation.sessionId, 'enabled');
    expect(await screen.findByText('Can sonnet call tools?')).toBeVisible();
    const added = backend.store.addTurn(app.conversation.branchId, { ...turn, model: 'sonnet' });
    if (calls.length > 0) {
      backend.toolbox.propose(added, calls);
      added.state = turn.state; // it continued and is complete
    }
    await app.navigation.openSession(app.conversation.sessionId);
    await waitFor(() => expect(screen.queryByText('Can sonnet call tools?')).toBeNull());
  });

  it.each([{ provider: 'anthropic', baseUrl: '' }, { images: 'yes' }, { usable: false, reason: 'no key' }])('no question about known properties: %o', async (known) => {
    const { app } = await unknownAbilities(known);
    app.draft.images = [{ mediaType: 'image/png', data: 'iVBORw0KGgo=', name: 'a.png' }];
    await new Promise((done) => setTimeout(done, 50));
    expect(screen.queryByText('Does sonnet accept images?')).toBeNull();
  });

  it('a budget that is nearly used up shows a warning until it is dismissed', async () => {
    const { app, backend } = await startedApp();
    backend.program.costs = { turn: 0.03, session: 0.4, month: 8.5, sessionBackground: 0.02, monthBackground: 0.5, estimate: true, pricesDate: '2026-08-05', unpriced: 0, budget: 10, today: true, state: 'near' };
    mountIn(app, Chat, {});
    app.costs.changed();
    const warning = await screen.findByText('$8.50 of the monthly budget of $10.00 is used.');
    expect(app.costs.text).toBe('Cost, estimated from the price list of 2026-08-05: last answer $0.03, session $0.40, this month $8.50 of $10.00. Of this, background (summaries, titles): session $0.02, this month $0.50. Answers and summaries stored without a price are counted at today’s prices.');
    await userEvent.click(screen.getByRole('button', { name: 'Dismiss' }));
    expect(warning).not.toBeInTheDocument();
  });
});
