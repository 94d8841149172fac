import { screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, test } from 'vitest';
import { ollamaEmbedder, openaiEmbedder } from '$lib/backend/fake/embedders';
import type { EmbedderView } from '$lib/backend/types';
import { mountWith } from '$shared/testing/harness';
import Inspector from '../inspector/Inspector.svelte';
import EmbedderPart from '../settings/EmbedderPart.svelte';
import EmbedderDialog from './EmbedderDialog.svelte';
import { amountText, costText, nameOf, placeOf, timeText } from './labels';

const user = userEvent.setup();
const called = (backend: { calls: { name: string; args: unknown[] }[] }, name: string) => backend.calls.filter((call) => call.name === name).map((call) => call.args);

async function tab(...embedders: EmbedderView[]) {
  return mountWith(Inspector, (app) => (app.inspector.select('memory'), {}), { embedders });
}

/** The dialog as the window shows it while an option is reviewed. */
async function review(option: EmbedderView, prepare?: Parameters<typeof mountWith>[3]) {
  const mounted = await mountWith(EmbedderDialog, { option }, { embedders: [ollamaEmbedder, openaiEmbedder] }, prepare);
  await mounted.app.embedders.load();
  return { ...mounted, reviewed: mounted.app.embedders.review(option) };
}

describe('the offer of a model embedder', () => {
  test('is shown in the Memory tab, and never again after it was declined', async () => {
    const { app, backend } = await tab(ollamaEmbedder);
    expect(await screen.findByText('Ollama is running: search can use its embedding model')).toBeInTheDocument();
    expect([called(backend, 'embedders.estimate'), called(backend, 'embedders.use')]).toEqual([[], []]);
    await user.click(screen.getByText('Not now'));
    await waitFor(() => expect(screen.queryByText(/Ollama is running/)).not.toBeInTheDocument());
    expect(called(backend, 'embedders.dismissOffer')).toHaveLength(1);
    app.inspector.select('state');
    app.inspector.select('memory');
    await screen.findByText('Newest first');
    await app.embedders.load();
    expect(app.embedders.offer).toBeUndefined();
  });

  test('is not shown if there is none, and servers are searched only once', async () => {
    const { app, backend } = await tab();
    await screen.findByText('Newest first');
    app.inspector.select('state');
    app.inspector.select('memory');
    await screen.findByText('Newest first');
    expect(screen.queryByText(/embedding model/)).not.toBeInTheDocument();
    expect(called(backend, 'embedders.embedders')).toHaveLength(1);
  });

  test('shows cost and time before switching; a local one is free', async () => {
    const { backend, reviewed } = await review(ollamaEmbedder);
    const accept = screen.getByText('Index').closest('button')!;
    expect(accept).toBeDisabled();
    await reviewed;
    await waitFor(() => expect(accept).toBeEnabled());
    expect(screen.getByText('Free')).toBeInTheDocument();
    expect(screen.getByText('About 2 minutes')).toBeInTheDocument();
    expect(screen.queryByText(/leaves this computer/)).not.toBeInTheDocument();
    expect(called(backend, 'embedders.use')).toEqual([]);
    await user.click(accept);
    await waitFor(() => expect(called(backend, 'embedders.use')).toEqual([[ollamaEmbedder.id]]));
  });

  test('of a remote one shows the cost and that the text leaves the computer', async () => {
    const { app, backend, reviewed } = await review(openaiEmbedder);
    await reviewed;
    expect(await screen.findByText('About $0.02')).toBeInTheDocument();
    expect(screen.getByText(/leaves this computer/).closest('p')).toHaveTextContent('api.openai.com');
    await user.click(screen.getByText('Cancel'));
    expect([app.embedders.reviewing, called(backend, 'embedders.use')]).toEqual([undefined, []]);
  });

  test('cannot be accepted if measuring failed', async () => {
    const { reviewed } = await review(ollamaEmbedder, (backend) => backend.failNext('embedders.estimate', { message: 'Ollama does not answer', hint: 'Start it.' }));
    await reviewed;
    expect(await screen.findByText(/Ollama does not answer/)).toBeInTheDocument();
    expect(screen.getByText('Index').closest('button')).toBeDisabled();
    await user.click(screen.getByText('Try again'));
    await waitFor(() => expect(screen.getByText('Index').closest('button')).toBeEnabled());
  });
});

describe('the embedder in the settings', () => {
  test('is shown by name, is switched after a review, and switched back', async () => {
    const { app, backend } = await mountWith(EmbedderPart, {}, { embedders: [ollamaEmbedder, openaiEmbedder] });
    const part = await screen.findByLabelText('Embedder');
    expect(await within(part).findByText('Built-in (sentence encoder, English)')).toBeInTheDocument();
    expect(within(part).getByText(/Finds other words for the same thing/)).toBeInTheDocument();
    await user.click(within(part).getByLabelText('Use nomic-embed-text on Ollama'));
    await waitFor(() => expect(app.embedders.estimate).toBeDefined());
    await app.embedders.use();
    await user.click(await within(part).findByText('Switch back'));
    await waitFor(() => expect(called(backend, 'embedders.useBuiltIn')).toHaveLength(1));
    await waitFor(() => expect(within(part).queryByText('Switch back')).not.toBeInTheDocument());
  });

  test('explains how to get one if there is none', async () => {
    await mountWith(EmbedderPart, {});
    expect(await screen.findByText(/No embedding model was found/)).toBeInTheDocument();
  });
});

describe('texts', () => {
  test.each([[-1, /not known/], [0, /^Free$/], [0.004, /^Less than \$0\.01$/], [0.0192, /^About \$0\.02$/]])('%d costs', (cost, text) => expect(costText(cost)).toMatch(text));
  test.each([[0, 'Less than a minute'], [61_000, 'About 1 minute'], [3_600_000, 'About 60 minutes'], [7_200_000, 'About 2 hours']])('%d ms', (ms, text) => expect(timeText(ms)).toBe(text));
  test('names and places', () => {
    expect([nameOf(openaiEmbedder), placeOf(openaiEmbedder), placeOf(ollamaEmbedder)]).toEqual(['text-embedding-3-small on OpenAI', 'Your text is sent to api.openai.com.', 'Runs on this computer.']);
    expect(nameOf({ ...ollamaEmbedder, server: '' })).toBe('nomic-embed-text');
    expect(amountText({ units: 1, tokens: 40 })).toBe('1 memory, 40 tokens');
  });
});
