import { screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, test } from 'vitest';
import type { FakeOptions } from '$lib/backend/fake';
import { mountWith } from '$shared/testing/harness';
import Settings from './Settings.svelte';
import { choiceText, helpIn } from './labels';

const canary = 'sk-ant-canary-0123456789';

async function open(section: string, options: Partial<FakeOptions> = {}, prepare?: Parameters<typeof mountWith>[3]) {
  const mounted = await mountWith(Settings, (app) => {
    app.layout.openSettings(section);
    return {};
  }, { data: 'empty', ...options }, prepare);
  const called = (name: string) => mounted.backend.calls.filter((call) => call.name === name).map((call) => call.args);
  return { ...mounted, called, user: userEvent.setup() };
}

describe('keys', () => {
  const card = async (name: string) => screen.findByRole('region', { name });

  test('a pasted key that works is stored, and removed from the field', async () => {
    const { called, user } = await open('providers');
    const openai = await card('OpenAI');
    const field = within(openai).getByLabelText('Key');
    expect(field).toHaveAttribute('type', 'password');
    await user.type(field, 'sk-good');
    await user.click(within(openai).getByRole('button', { name: 'Test and save' }));
    expect(await within(openai).findByText(/Works/)).toBeInTheDocument();
    expect(called('settings.setKey')).toEqual([['openai', 'sk-good']]);
    expect(within(openai).getByLabelText('New key')).toHaveValue('');
  });

  test('a rejected key is not stored, shows why, and the old one stays', async () => {
    const { called, user } = await open('providers');
    const anthropic = await card('Anthropic');
    await user.click(within(anthropic).getByRole('button', { name: /Anthropic api/ }));
    await user.type(within(anthropic).getByLabelText('New key'), `${canary}-bad`);
    await user.click(within(anthropic).getByRole('button', { name: 'Test and replace' }));
    const alert = await within(anthropic).findByRole('alert');
    expect(alert).toHaveTextContent('refused this key (401)');
    expect(alert).toHaveTextContent('The old key is still in place.');
    expect(alert).not.toHaveTextContent(canary);
    expect(called('settings.setKey')).toEqual([]);
  });

  test('a stored key is tested without being shown', async () => {
    const { called, user } = await open('providers');
    const anthropic = await card('Anthropic');
    await user.click(within(anthropic).getByRole('button', { name: 'Test Anthropic' }));
    expect(await within(anthropic).findByText(/Works/)).toBeInTheDocument();
    expect(called('settings.testKey')).toEqual([['anthropic', '', 'https://api.anthropic.com']]);
  });

  test('without a keyring it says how long a key is kept', async () => {
    await open('providers', { keyringOk: false });
    expect(await within(await card('OpenAI')).findByText(/for this run only/)).toBeInTheDocument();
    expect(within(await card('Anthropic')).getByText(/key for this run only/)).toBeInTheDocument();
    expect(within(await card('OpenAI')).getByText(/a pasted key lasts one run: there is no keyring/)).toBeVisible(); // also while folded
  });

  test('a key is removed only after a confirmation', async () => {
    const { called, user } = await open('providers');
    const anthropic = await card('Anthropic');
    await user.click(within(anthropic).getByRole('button', { name: /Anthropic api/ }));
    await user.click(within(anthropic).getByRole('button', { name: 'Remove the key of Anthropic' }));
    expect(called('settings.removeKey')).toEqual([]);
    await user.click(screen.getByRole('button', { name: 'Remove key' }));
    expect(await within(anthropic).findByText('No key')).toBeInTheDocument();
    expect(called('settings.removeKey')).toEqual([['anthropic']]);
  });
});

describe('a compatible server', () => {
  test('with a stored key is tested with its own protocol and address', async () => {
    const { called, user } = await open('providers', {}, (backend) => {
      backend.program.keys = [{ provider: '127.0.0.1:11434', source: 'keyring', env: '', baseUrl: '', models: ['local'], needed: false, keyringOk: true }];
    });
    await user.click(await screen.findByRole('button', { name: 'Test 127.0.0.1:11434' }));
    expect(called('settings.testKey')).toEqual([['chatcompletions', '', 'http://127.0.0.1:11434/v1']]);
  });

  test('that needs no key is tested without one; a vendor is not', async () => {
    const { called, user } = await open('providers', {}, (backend) => {
      backend.program.keys = [...backend.program.keys, { provider: '127.0.0.1:11434', source: '', env: '', baseUrl: 'http://127.0.0.1:11434/v1', models: ['local'], needed: false, keyringOk: true }];
    });
    const card = await screen.findByRole('region', { name: '127.0.0.1:11434' });
    expect(card).toHaveTextContent('no key needed');
    await user.click(within(card).getByRole('button', { name: 'Test 127.0.0.1:11434' }));
    expect(await within(card).findByText(/Works/)).toBeInTheDocument();
    expect(called('settings.testKey')).toEqual([['chatcompletions', '', 'http://127.0.0.1:11434/v1']]);
    expect(screen.getByRole('button', { name: 'Test OpenAI' })).toBeDisabled();
  });

  test('is tested, lists its models, and is saved with its key under its host', async () => {
    const { app, called, user } = await open('providers');
    await user.click(await screen.findByRole('button', { name: 'Add a compatible server' }));
    const dialog = screen.getByRole('dialog');
    await user.type(within(dialog).getByLabelText('Address'), 'http://127.0.0.1:8000/v1');
    await user.type(within(dialog).getByLabelText('Key'), 'secret');
    await user.click(within(dialog).getByRole('button', { name: 'Test' }));
    expect(await within(dialog).findByText('The server lists 2 models.')).toBeInTheDocument();
    expect(called('settings.testKey')).toEqual([['chatcompletions', 'secret', 'http://127.0.0.1:8000/v1']]);
    // Only a placeholder: a value would filter its own completions.
    const model = within(dialog).getByLabelText('Model');
    expect(model).toHaveValue('');
    expect(model).toHaveAttribute('placeholder', 'llama3.3:70b');
    expect([...(model as HTMLInputElement).list!.options]).toHaveLength(2);
    expect(within(dialog).queryByText(/2 models$/)).toBeNull();
    await user.click(within(dialog).getByRole('button', { name: 'Save' }));
    await waitFor(() => expect(screen.queryByRole('dialog')).not.toBeInTheDocument());
    expect(called('settings.setKey')).toEqual([['127.0.0.1:8000', 'secret']]);
    expect(app.models.find('llama3.3-70b')).toMatchObject({ provider: 'chatcompletions', baseUrl: 'http://127.0.0.1:8000/v1', modelId: 'llama3.3:70b' });
  });

  test('that answers but does not list the model says so, and can be saved', async () => {
    const { called, user } = await open('providers');
    await user.click(await screen.findByRole('button', { name: 'Add a compatible server' }));
    const dialog = screen.getByRole('dialog');
    await user.type(within(dialog).getByLabelText('Address'), 'http://127.0.0.1:8000/v1');
    await user.type(within(dialog).getByLabelText('Model'), 'llama3.');
    await user.click(within(dialog).getByRole('button', { name: 'Test' }));
    expect(await within(dialog).findByText('The server answers, but it does not list “llama3.”')).toBeVisible();
    expect(within(dialog).queryByText(/^Works/)).toBeNull();
    await user.type(within(dialog).getByLabelText('Model'), '3:70b');
    expect(within(dialog).getByText(/^Works/)).toBeVisible();
    await user.type(within(dialog).getByLabelText('Model'), 'x');
    expect(within(dialog).getByLabelText('Model')).toHaveAccessibleDescription(/^The server does not list “llama3.3:70bx”\./);
    await user.type(within(dialog).getByLabelText('Address'), '/other');
    expect(within(dialog).getByLabelText('Model')).not.toHaveAccessibleDescription(/does not list/); // another server, not asked yet
    await user.click(within(dialog).getByRole('button', { name: 'Save' }));
    await waitFor(() => expect(called('settings.saveModel')).toHaveLength(1));
  });

  test('an address without a scheme gets one, and a failed test counts only for what was tested', async () => {
    const { called, user } = await open('providers');
    await user.click(await screen.findByRole('button', { name: 'Add a compatible server' }));
    await user.type(screen.getByLabelText('Address'), '127.0.0.1:4621/v1');
    await user.type(within(screen.getByRole('dialog')).getByLabelText('Key'), 'bad');
    await user.click(screen.getByRole('button', { name: 'Test' }));
    expect(await screen.findByText('The test failed')).toBeVisible();
    expect(screen.getByLabelText('Address')).toHaveValue('http://127.0.0.1:4621/v1');
    expect(called('settings.testKey')).toEqual([['chatcompletions', 'bad', 'http://127.0.0.1:4621/v1']]);
    await user.type(screen.getByLabelText('Address'), '/x');
    expect(screen.queryByText('The test failed')).toBeNull();
    const { withScheme } = await import('./providers');
    expect(['api.example.com/v1', 'localhost:1234', '192.168.1.4:8000', '[::1]:80', 'https://a.b', 'nowhere', ''].map(withScheme)).toEqual(['https://api.example.com/v1', 'http://localhost:1234', 'http://192.168.1.4:8000', 'http://[::1]:80', 'https://a.b', 'nowhere', '']);
  });

  test('a wrong address is shown in place, and nothing is saved', async () => {
    const { called, user } = await open('providers');
    await user.click(await screen.findByRole('button', { name: 'Add a compatible server' }));
    await user.type(screen.getByLabelText('Address'), 'nowhere');
    await user.click(screen.getByRole('button', { name: 'Save' }));
    expect(screen.getByLabelText('Address')).toHaveAccessibleDescription(/Enter a complete address/);
    expect(called('settings.saveModel')).toEqual([]);
  });
});

describe('plain settings', () => {
  test('a value out of bounds is rejected in place, with the message of the program', async () => {
    const { user } = await open('group:Context budget');
    const field = await screen.findByLabelText('Working set');
    await user.clear(field);
    await user.type(field, '5{Enter}');
    expect(await screen.findByRole('alert')).toHaveTextContent('budget.working_set_tokens must be between 2000 and 2000000');
    expect(field).toBeInvalid();
    expect(field).toHaveValue('5');
    await user.type(field, '{Escape}');
    expect(field).toHaveValue('50000');
    expect(screen.queryByRole('alert')).not.toBeInTheDocument();
  });

  test('a value is saved once, with or without grouping, and can be reset', async () => {
    const { called, user } = await open('group:Context budget');
    const field = await screen.findByLabelText('Working set');
    await user.clear(field);
    await user.type(field, '64 000{Enter}');
    await user.tab();
    expect(await screen.findByText('Saved')).toBeInTheDocument();
    expect(called('settings.set')).toEqual([['budget.working_set_tokens', '64000']]);
    await user.click(screen.getByRole('button', { name: 'Reset Working set to its default' }));
    await waitFor(() => expect(field).toHaveValue('50000'));
  });

  test('a choice shows the value in effect', async () => {
    const { called, user } = await open('group:Streaming');
    await user.click(await screen.findByRole('radio', { name: 'Write ahead' }));
    await waitFor(() => expect(screen.getByRole('radio', { name: 'Write ahead' })).toBeChecked());
    expect(called('settings.set')).toEqual([['stream.durability', 'write_ahead']]);
  });

  test('a setting that names a model offers the usable ones', async () => {
    const { called, user } = await open('group:Librarian');
    const model = await screen.findByRole('combobox', { name: 'Model' });
    expect(within(model).getAllByRole('option').map((option) => option.textContent)).toEqual(expect.arrayContaining(['Automatic', 'No model', 'sonnet', 'local']));
    expect(within(model).queryByRole('option', { name: 'recall' })).toBeNull(); // only quotes, so it cannot write summaries
    expect(within(model).queryByRole('option', { name: 'gpt' })).toBeNull(); // has no key
    await user.selectOptions(model, 'local');
    expect(called('settings.set')).toEqual([['librarian.model', 'local']]);
  });

  test('values have the names of the window, also in descriptions and defaults', async () => {
    await open('group:Export');
    expect(await screen.findByText(/^Default: Bundle \(\.cinf\)/)).toBeInTheDocument();
    expect(screen.getByRole('option', { name: 'Markdown (.md)' })).toBeInTheDocument();
    const scope = choiceText['retrieval.scope']!;
    expect(helpIn(scope, "What may be remembered: this branch's own past, the whole session, or all sessions. all lets one session's text reach another's provider.")).toBe(
      "What may be remembered: this branch's own past, the whole session, or all sessions. “All sessions” lets one session's text reach another's provider.",
    );
    expect(helpIn(scope, 'Where. project and all can send text. project and more.')).toBe('Where. “This project” and “All sessions” can send text. “This project” and more.');
    expect(helpIn(choiceText['retrieval.profile']!, 'measured ranks by the numbers below; srd by plain ones.')).toBe('“Measured” ranks by the numbers below; “Specification” by plain ones.');
  });

  test('an unchosen scope of memory says what recall does with it, and can be chosen', async () => {
    const { called, user } = await open('group:Memory and search');
    const scope = await screen.findByRole('combobox', { name: 'Scope' });
    expect(within(scope).getByRole('option', { selected: true })).toHaveTextContent('This branch (recall: all)');
    await user.selectOptions(scope, 'This branch');
    expect(called('settings.set')).toEqual([['retrieval.scope', 'lineage']]);
    await waitFor(() => expect(within(scope).getByRole('option', { selected: true }).textContent).toBe('This branch'));
  });

  test('providers are offered as at the first start', async () => {
    const { user } = await open('providers');
    await user.click(await screen.findByRole('button', { name: /Groq$/ }));
    expect(await screen.findByRole('textbox', { name: 'Address' })).toHaveValue('https://api.groq.com/openai/v1');
  });

  test('the page of costs begins with this month, background work apart', async () => {
    await open('group:Cost', {}, ({ program }) => {
      program.costs = { ...program.costs, month: 8.5, monthBackground: 0.5, budget: 10, state: 'near', unpriced: 2 };
    });
    const month = await screen.findByRole('region', { name: 'This month' });
    expect([...month.querySelectorAll('dt')].map((name) => [name.textContent, name.nextElementSibling?.textContent])).toEqual([
      ['Answers', '$8.00'], ['Background: summaries, titles', '$0.50'], ['Total', '$8.50 of $10.00'],
    ]);
    expect(month).toHaveTextContent('Not included: 2 turns of models without a price.');
  });

  test('every setting of the program has a page', async () => {
    const { backend, user } = await open('general');
    const nav = await screen.findByRole('navigation', { name: 'Settings' });
    await user.click(within(nav).getByRole('checkbox', { name: 'Show all settings and their keys' }));
    await within(nav).findByRole('button', { name: 'Streaming' });
    const labels = new Set<string>();
    for (const page of nav.querySelectorAll<HTMLElement>('[data-page]')) {
      await user.click(page);
      for (const label of document.querySelectorAll('label')) labels.add(label.textContent ?? '');
    }
    const { settings } = await backend.settings.settings();
    expect(settings.filter(({ key }) => key !== 'keys.shortcuts').map((setting) => setting.label).filter((label) => !labels.has(label))).toEqual([]); // shortcuts are listed separately
  });
});

describe('models', () => {
  test('removing one can be undone', async () => {
    const { app, user } = await open('models');
    await user.click(await screen.findByRole('button', { name: 'Actions for local' }));
    await user.click(screen.getByRole('menuitem', { name: 'Remove' }));
    await waitFor(() => expect(app.models.find('local')).toBeUndefined());
    await user.click(await within(document.querySelector<HTMLElement>('.settings')!).findByRole('button', { name: 'Undo' }));
    await waitFor(() => expect(app.models.find('local')).toBeDefined());
  });

  test('the menu works with the keyboard', async () => {
    const { app, user } = await open('models');
    (await screen.findByRole('button', { name: 'Actions for local' })).focus();
    await user.keyboard('{ArrowDown}');
    expect(await screen.findByRole('menuitem', { name: 'Edit' })).toHaveFocus();
    await user.keyboard('m');
    expect(screen.getByRole('menuitem', { name: 'Make it the default' })).toHaveFocus();
    await user.keyboard('{Escape}');
    expect(screen.queryByRole('menu')).not.toBeInTheDocument();
    expect(screen.getByRole('button', { name: 'Actions for local' })).toHaveFocus();
    expect(app.layout.view).toBe('settings');
  });

  test('options that are not a JSON object are rejected before anything is saved', async () => {
    const { called, user } = await open('models');
    await user.click(await screen.findByRole('button', { name: 'Actions for local' }));
    await user.click(screen.getByRole('menuitem', { name: 'Edit' }));
    const field = screen.getByLabelText('Provider options');
    await user.type(field, '[[1]');
    await user.click(screen.getByRole('button', { name: 'Save' }));
    expect(field).toHaveAccessibleDescription(/Enter one JSON object/);
    expect(called('settings.saveModel')).toEqual([]);
    await user.clear(field);
    await user.type(field, '{{"temperature": 0.2}');
    await user.click(screen.getByRole('button', { name: 'Save' }));
    await waitFor(() => expect(called('settings.saveModel')).toHaveLength(1));
    expect(called('settings.saveModel')[0]?.[0]).toMatchObject({ name: 'local', options: '{"temperature": 0.2}', contextLimit: 32768 });
  });

  test('the abilities of a model are shown in its form', async () => {
    const { called, user } = await open('models');
    await user.click(await screen.findByRole('button', { name: 'Actions for local' }));
    await user.click(screen.getByRole('menuitem', { name: 'Edit' }));
    await user.selectOptions(screen.getByRole('combobox', { name: 'Images' }), 'Images: no');
    await user.selectOptions(screen.getByRole('combobox', { name: 'Tools' }), 'Tools: no');
    await user.click(screen.getByRole('button', { name: 'Save' }));
    await waitFor(() => expect(called('settings.saveModel')).toHaveLength(1));
    expect(called('settings.saveModel')[0]?.[0]).toMatchObject({ name: 'local', images: 'no', tools: 'no' });
  });

  test('of the prices, only those that are configured are in the fields, and saved', async () => {
    const { called, user } = await open('models', {}, ({ program }) => {
      program.models = program.models.map((model) => (model.name === 'local' ? { ...model, priceInput: 4, priceCached: 0.3, priceOutput: 15, priceSource: 'server', ownPrice: { input: 4, cached: 0, output: 0 } } : model));
    });
    await user.click(await screen.findByRole('button', { name: 'Actions for local' }));
    await user.click(screen.getByRole('menuitem', { name: 'Edit' }));
    expect(screen.getByRole('textbox', { name: 'Price of input' })).toHaveValue('4');
    const output = screen.getByPlaceholderText('15');
    expect(output).toHaveValue('');
    await user.click(screen.getByRole('button', { name: 'Save' }));
    await waitFor(() => expect(called('settings.saveModel')).toHaveLength(1));
    expect(called('settings.saveModel')[0]?.[0]).toMatchObject({ priceInput: 4, priceCached: 0, priceOutput: 0 });
  });

  test('a key over plain http to another machine is allowed for one model', async () => {
    const { called, user } = await open('models');
    await user.click(await screen.findByRole('button', { name: 'Actions for local' }));
    await user.click(screen.getByRole('menuitem', { name: 'Edit' }));
    expect(screen.queryByRole('radiogroup', { name: 'Key over plain http' })).not.toBeInTheDocument();
    const address = screen.getByLabelText('Address');
    await user.clear(address);
    await user.type(address, 'http://192.168.1.5:8000/v1');
    expect(screen.getByText(/could be read on the way, so none is sent/)).toBeInTheDocument();
    await user.click(screen.getByRole('radio', { name: 'Allow' }));
    await user.click(screen.getByRole('button', { name: 'Save' }));
    await waitFor(() => expect(called('settings.saveModel')).toHaveLength(1));
    expect(called('settings.saveModel')[0]?.[0]).toMatchObject({ allowPlainHttp: true });
  });

  test('a gateway gets the key in another header, and further headers, one per line', async () => {
    const { called, user } = await open('models');
    await user.click(await screen.findByRole('button', { name: 'Actions for local' }));
    await user.click(screen.getByRole('menuitem', { name: 'Edit' }));
    await user.type(screen.getByLabelText('Key header'), 'Authorization ');
    await user.type(screen.getByLabelText('Headers'), 'X-Team: blue{Enter}{Enter}X-Gate: $' + '{{secret:gate}');
    await user.click(screen.getByRole('button', { name: 'Save' }));
    await waitFor(() => expect(called('settings.saveModel')).toHaveLength(1));
    expect(called('settings.saveModel')[0]?.[0]).toMatchObject({ keyHeader: 'Authorization', headers: ['X-Team: blue', 'X-Gate: $' + '{secret:gate}'] });
  });
});

test('the theme changes the page at once', async () => {
  const { app, user } = await open('appearance');
  await user.click(await screen.findByRole('radio', { name: 'High contrast' }));
  expect(document.documentElement.dataset.theme).toBe('contrast');
  expect(app.theme.choice).toBe('contrast');
});

describe('the focus', () => {
  test('is in the search at once if no page was requested', async () => {
    const { user } = await open('');
    const field = screen.getByRole('searchbox', { name: 'Search settings' });
    expect(field).toHaveFocus();
    await user.keyboard('theme');
    expect(await screen.findByRole('heading', { level: 1, name: 'Settings with “theme”' })).toBeVisible();
    expect(field).toHaveFocus();
  });

  test('is on a requested page in the list', async () => {
    await open('appearance');
    await waitFor(() => expect(screen.getByRole('button', { name: 'Appearance', current: 'page' })).toHaveFocus());
  });
});

test('Esc goes back to the conversation', async () => {
  const { app, user } = await open('general');
  await user.keyboard('{Escape}');
  expect(app.layout.view).toBe('chat');
});

describe('appearance', () => {
  const savedSettings = (backend: { calls: { name: string; args: unknown[] }[] }) => backend.calls.filter((call) => call.name === 'settings.set').map((call) => call.args);

  test('width, motion and code size change the page at once, and are saved', async () => {
    const { app, backend } = await open('appearance');
    const root = document.documentElement;
    await userEvent.click(await screen.findByRole('radio', { name: 'Wide' }));
    await userEvent.click(screen.getByRole('radio', { name: 'Reduced' }));
    await userEvent.click(screen.getByRole('button', { name: 'Larger code' }));
    expect([root.dataset.width, root.dataset.motion, root.style.getPropertyValue('--code-zoom'), app.theme.code]).toEqual(['wide', 'reduced', '1.05', 105]);
    expect(savedSettings(backend)).toEqual([['appearance.message_width', 'wide'], ['appearance.motion', 'reduced'], ['appearance.code_size', '105']]);
    expect(JSON.parse(localStorage.getItem('contextinfinity.look')!)).toEqual({ theme: 'system', zoom: 100, code: 105, width: 'wide', motion: 'reduced' });
  });

  test('values from start-up are applied, invalid ones ignored', async () => {
    const { app } = await open('appearance');
    app.theme.adopt({ theme: 'dark', textZoom: 150, codeSize: 900, codeWrap: true, codeNumbers: true, previews: false, messageWidth: 'huge', motion: 'reduced' });
    expect([app.theme.wrap, app.theme.numbers, app.theme.previews, document.documentElement.dataset['codeWrap'], document.documentElement.dataset['previews']]).toEqual([true, true, false, 'on', 'off']);
    expect([app.theme.choice, app.theme.zoom, app.theme.code, app.theme.width, app.theme.motion]).toEqual(['dark', 150, 175, 'normal', 'reduced']);
  });

  test('code is wrapped, numbered and previewed according to the settings', async () => {
    const { app, backend } = await open('appearance');
    for (const name of ['Wrap long lines of code', 'Line numbers in code', 'Preview diagrams, SVG and HTML']) await userEvent.click(await screen.findByRole('checkbox', { name }));
    expect([app.theme.wrap, app.theme.numbers, app.theme.previews]).toEqual([true, true, false]);
    await expect.poll(() => savedSettings(backend)).toEqual([['appearance.code_wrap', 'true'], ['appearance.code_numbers', 'true'], ['appearance.previews', 'false']]);
  });

  test('a change by the command line or another window is applied, except to what this window is saving', async () => {
    const { app, backend } = await open('appearance');
    const elsewhere = (values: Record<string, string>) => {
      for (const [key, value] of Object.entries(values)) backend.program.set(key, value);
      backend.store.changed('settings', '', '');
    };
    elsewhere({ 'appearance.theme': 'dark', 'appearance.text_zoom': '150', 'appearance.code_size': '90', 'appearance.code_wrap': 'true', 'appearance.code_numbers': 'true', 'appearance.previews': 'false', 'appearance.message_width': 'wide', 'appearance.motion': 'reduced' });
    await waitFor(() => expect(document.documentElement.dataset.theme).toBe('dark'));
    const { theme } = app;
    expect([theme.zoom, theme.code, theme.wrap, theme.numbers, theme.previews, theme.width, theme.motion]).toEqual([150, 90, true, true, false, 'wide', 'reduced']);
    expect(savedSettings(backend)).toEqual([]);

    const release = backend.hold('settings.set');
    const saved = theme.setZoom(120);
    elsewhere({ 'appearance.theme': 'contrast' });
    await waitFor(() => expect(theme.choice).toBe('contrast'));
    expect(theme.zoom).toBe(120);
    release();
    await saved;
    elsewhere({ 'appearance.text_zoom': '110' });
    await waitFor(() => expect(theme.zoom).toBe(110));
  });

  test('settings that were read before a change of this window was saved do not revert it', async () => {
    const { app } = await open('appearance');
    const { saves } = app.theme;
    const { settings } = await app.backend.settings.settings();
    const before = settings.map((setting) => ({ ...setting }));
    await app.theme.setChoice('dark');
    app.theme.adoptSettings(before, saves);
    expect(app.theme.choice).toBe('dark');
    app.theme.adoptSettings(before, app.theme.saves);
    expect(app.theme.choice).toBe('system');
  });

  test('a size stops at its limits and can be reset to 100 %', async () => {
    const { app } = await open('appearance');
    await app.theme.setZoom(200);
    expect(await screen.findByRole('button', { name: 'Larger text' })).toBeDisabled();
    await userEvent.click(await screen.findByRole('button', { name: 'Back to 100\u202f%' }));
    expect(app.theme.zoom).toBe(100);
  });
});

describe('finding a setting', () => {
  const pages = () => within(screen.getByRole('navigation', { name: 'Settings' })).getAllByRole('button').slice(1).map((button) => button.textContent!.trim());

  test('one switch shows the keys, the rarely changed groups, and a page with everything', async () => {
    const { backend, user } = await open('');
    await screen.findByRole('heading', { level: 1, name: 'General' });
    expect(pages()).not.toContain('All settings');
    expect(pages()).not.toContain('Context budget');
    expect(screen.queryByText('general.instructions')).toBeNull();
    await user.click(screen.getByRole('checkbox', { name: 'Show all settings and their keys' }));
    expect(screen.getByText('general.instructions')).toBeInTheDocument();
    const names = pages();
    expect(names.slice(0, 3)).toEqual(['General', 'Appearance', 'Providers and keys']);
    expect(names.slice(names.indexOf('All settings') + 1)).toContain('Context budget');
    await user.click(screen.getByRole('button', { name: 'All settings' }));
    const { settings } = await backend.settings.settings();
    for (const { key } of settings) expect(screen.getByText(key)).toBeInTheDocument();
  });

  test('the search finds settings by words of the name, the description and the key, and pages', async () => {
    const { called, user } = await open('');
    const field = await screen.findByRole('searchbox', { name: 'Search settings' });
    await user.type(field, 'working set');
    expect(screen.getByRole('heading', { level: 1, name: 'Settings with “working set”' })).toBeInTheDocument();
    const found = screen.getByLabelText('Working set');
    await user.clear(found);
    await user.type(found, '60000{Enter}');
    expect(called('settings.set')).toEqual([['budget.working_set_tokens', '60000']]);
    await user.clear(field);
    await user.type(field, 'working_set_tok');
    expect(screen.getByLabelText('Working set')).toBeInTheDocument();
    await user.clear(field);
    await user.type(field, 'keyboard');
    await user.click(within(screen.getByRole('group', { name: 'Pages' })).getByRole('button', { name: 'Keyboard' }));
    expect(screen.getByRole('heading', { level: 1, name: 'Keyboard' })).toBeInTheDocument();
    expect(field).toHaveValue('');
  });

  test('a field that is found leads to it, and is marked', async () => {
    const scrolled: unknown[] = [];
    Element.prototype.scrollIntoView = function (this: Element) {
      scrolled.push(this);
    };
    const { user } = await open('');
    const field = await screen.findByRole('searchbox', { name: 'Search settings' });
    for (const [typed, found, label] of [['sign in', 'Start when you sign in (General)', 'Start when you sign in'], ['font', 'Text size (Appearance)', 'Text size']] as const) {
      await user.type(field, typed);
      expect(within(screen.getByRole('group', { name: 'Pages' })).queryByRole('button', { name: 'Keyboard' })).toBeNull();
      await user.click(within(screen.getByRole('group', { name: 'Pages' })).getByRole('button', { name: found }));
      await waitFor(() => expect(document.querySelector('[data-found]')).toHaveTextContent(label));
      expect(scrolled.at(-1)).toBe(document.querySelector('[data-found]'));
      expect(document.querySelector('[data-found]')).toContainElement(document.activeElement as HTMLElement);
      await user.clear(field);
    }
  });

  test('“system prompt” leads to the instructions for all chats, which have several lines', async () => {
    const { backend, user } = await open('');
    await user.type(await screen.findByRole('searchbox', { name: 'Search settings' }), 'system prompt');
    const field = await screen.findByRole('textbox', { name: 'Instructions for all chats' });
    await user.type(field, 'I am a nurse.{Enter}Answer briefly.');
    expect(backend.calls.filter((call) => call.name === 'settings.set')).toEqual([]);
    await user.tab();
    await waitFor(() => expect(backend.calls.find((call) => call.name === 'settings.set')?.args).toEqual(['general.instructions', 'I am a nurse.\nAnswer briefly.']));
  });

  test('Esc clears the search first, then goes back to the chat', async () => {
    const { app, user } = await open('');
    const field = await screen.findByRole('searchbox', { name: 'Search settings' });
    await user.type(field, 'zyzzyva');
    expect(screen.getByText('No results for “zyzzyva”')).toBeInTheDocument();
    await user.keyboard('{Escape}');
    expect(field).toHaveValue('');
    expect(app.layout.view).toBe('settings');
    await user.keyboard('{Escape}');
    expect(app.layout.view).toBe('chat');
  });
});
