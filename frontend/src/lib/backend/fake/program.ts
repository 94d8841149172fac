/** Settings, keys and models of the fake program. */
import { BackendError } from '../errors';
import type { AddedModel, AutostartView, CostView, KeyTest, KeyView, LocalServer, ModelView, OfferView, PlaceView, QuickKeyView, Setting, SettingsView, Startup, UpdateView } from '../types';
import { offerView, presetViews, seedOffers } from './presets';
import { errorView, modelView, setting } from './shapes';

export interface ProgramSeed {
  firstRun: boolean;
  fatal: boolean;
  keyringOk: boolean;
  localServers: LocalServer[];
}

export class Program {
  models: ModelView[];
  readonly #vendors: ModelView[];
  keys: KeyView[];
  settings: Setting[];
  /** The error of the configuration file while the program runs. */
  fileError = '';
  startup: Startup;
  localServers: LocalServer[];
  /** The result of the last check for updates, and of the next one. */
  updates: UpdateView = { feed: false, verdict: '', newest: '', page: '', at: 0, reason: '', hint: '' };
  feed: Partial<UpdateView> = { verdict: 'current', newest: '0.2.0', at: Date.UTC(2026, 10, 23, 12), reason: '', hint: '' };
  /** Key combinations that another program uses. */
  takenKeys: readonly string[] = ['Ctrl+Alt+T'];
  autostart: AutostartView = { on: false, other: '', place: '/home/ada/.config/autostart/contextinfinity.desktop', reason: '' };
  readonly #offers = seedOffers();
  costs: CostView = { turn: null, session: null, month: null, sessionBackground: null, monthBackground: null, estimate: false, pricesDate: '2026-08-05', unpriced: 0, budget: 0, today: false, state: '' };

  constructor(seed: ProgramSeed) {
    this.#vendors = vendorModels();
    this.models = seedModels(seed.firstRun);
    this.keys = seedKeys(seed.firstRun, seed.keyringOk);
    this.settings = seedSettings();
    this.localServers = seed.localServers;
    this.startup = {
      version: '0.1.0', firstRun: seed.firstRun, dataDir: '/home/ada/.local/share/contextinfinity',
      fatal: seed.fatal ? errorView('The database could not be opened: file is not a database', 'Nothing was overwritten. Restore the newest backup, or move the file away and start again.', 'corrupt') : null,
      lost: false, damagedLog: false, readOnly: '', configError: '', configPath: '', configDefaults: false, lastSession: '', quick: false, theme: 'system', textZoom: 100, codeSize: 100, codeWrap: false, codeNumbers: false, previews: true, messageWidth: 'normal', motion: 'system', language: 'system', shortcuts: [], durability: 'buffered', maxSessions: 5_000,
    };
  }

  /** Every combination can be registered except those of another program. */
  quickKey(): QuickKeyView {
    const keys = this.valueOf('desktop.quick_ask_keys');
    const view = { keys, given: '', reason: '', hint: '' };
    if (keys === '') return { ...view, phase: 'off' };
    if (this.takenKeys.includes(keys)) return { ...view, phase: 'failed', reason: `Another program already uses ${keys}.`, hint: 'Choose another combination.' };
    return { ...view, phase: 'bound', given: keys };
  }

  view(): SettingsView {
    return { path: '/home/ada/.config/contextinfinity/config.toml', dataDir: this.startup.dataDir, settings: this.settings, error: this.fileError, defaults: false };
  }

  valueOf(key: string): string {
    return this.#setting(key).value;
  }

  set(key: string, value: string): SettingsView {
    const found = this.#setting(key);
    const problem = faultOf(found, value);
    if (problem !== '') throw new BackendError(errorView(problem, 'The value before stays in effect.', 'invalid'));
    Object.assign(found, { value, origin: 'file' });
    return this.view();
  }

  reset(key: string): SettingsView {
    const found = this.#setting(key);
    Object.assign(found, { value: found.default, origin: 'default' });
    return this.view();
  }

  saveModel(model: ModelView): ModelView[] {
    if (!/^[a-z0-9][a-z0-9._-]*$/i.test(model.name)) throw new BackendError(errorView('A model needs a name of letters, digits, dots or dashes', 'Choose another name.'));
    const at = this.models.findIndex((known) => known.name === model.name);
    if (at < 0) this.models = [...this.models, { ...model, usable: true, builtIn: false }];
    else this.models = this.models.with(at, { ...model });
    return this.models;
  }

  places(): PlaceView[] {
    const anthropic = this.keys.find((key) => key.provider === 'anthropic' && key.source !== '');
    return [
      ...(anthropic ? [{ id: 'anthropic', name: 'Anthropic', protocol: 'anthropic', baseUrl: '', env: anthropic.env, local: false }] : []),
      ...this.localServers.map((server) => ({ id: server.name.toLowerCase(), name: server.name, protocol: 'chatcompletions', baseUrl: server.baseUrl, env: '', local: true })),
    ];
  }

  offers(place: string): OfferView[] {
    const found = this.#offers[place];
    if (!found) throw new BackendError(errorView(`There is no provider or server "${place}".`, '', 'not_found'));
    return found.map((offer) => ({ ...offer }));
  }

  addOffered(place: string, modelId: string): AddedModel {
    const preset = presetViews().find((candidate) => candidate.id === place && !candidate.local);
    const at = preset ?? this.places().find((candidate) => candidate.id === place);
    const offer = preset ? offerView({ modelId }) : this.offers(place).find((candidate) => candidate.modelId === modelId);
    if (!at || !offer) throw new BackendError(errorView('There is no model to add.'));
    const known = this.models.find((model) => model.modelId === modelId);
    if (known) return { name: known.name, models: this.models };
    const name = modelId.toLowerCase().replace(/[^a-z0-9._-]+/g, '-');
    const { window: contextLimit, images, tools, reasoning, priceInput, priceOutput, priceSource } = offer;
    const models = this.saveModel(modelView({ name, provider: at.protocol, modelId, baseUrl: at.baseUrl, contextLimit, images, tools, reasoning, priceInput, priceOutput, priceSource, limitSource: 'server' }));
    return { name, models };
  }

  setFavourite(name: string, favourite: boolean): ModelView[] {
    this.models = this.models.map((model) => (model.name === name ? { ...model, favourite } : model));
    const key = 'general.favourite_models';
    const others = (JSON.parse(this.valueOf(key)) as string[]).filter((other) => other !== name);
    this.set(key, JSON.stringify(favourite ? [...others, name] : others));
    return this.models;
  }

  setWindow(name: string, contextLimit: number): ModelView[] {
    this.models = this.models.map((model) => (model.name === name ? { ...model, contextLimit, limitSource: 'configured' } : model));
    return this.models;
  }

  removeModel(name: string): ModelView[] {
    this.models = this.models.filter((model) => model.name !== name || model.builtIn);
    return this.models;
  }

  setDefaultModel(name: string): ModelView[] {
    this.models = this.models.map((model) => ({ ...model, default: model.name === name }));
    return this.models;
  }

  setKey(provider: string, key: string): KeyView[] {
    if (key.trim() === '') throw new BackendError(errorView('There is no key in the field', 'Paste the key your provider gave you.'));
    const source = this.keys[0]?.keyringOk === false ? 'this run' : 'keyring';
    const known = this.keys.some((entry) => entry.provider === provider);
    if (!known) this.keys = [...this.keys, { provider, source, env: '', baseUrl: '', models: [], needed: true, keyringOk: true }];
    else this.keys = this.keys.map((entry) => (entry.provider === provider ? { ...entry, source } : entry));
    // As in the program, a vendor's own models appear when its key is set.
    const missing = this.#vendors.filter((model) => model.provider === provider && !this.models.some((other) => other.name === model.name));
    this.models = [...missing, ...this.models].map((model) => (model.provider === provider ? { ...model, usable: true, reason: '' } : model));
    return this.keys;
  }

  removeKey(provider: string): KeyView[] {
    this.keys = this.keys.map((entry) => (entry.provider === provider ? { ...entry, source: '' } : entry));
    this.models = this.models.map((model) => (model.provider === provider ? { ...model, usable: false, reason: 'There is no key for it' } : model));
    return this.keys;
  }

  /**
   * Keys that contain "bad" are rejected, any other works. A key of unknown form is not sent anywhere until its
   * provider is chosen.
   */
  testKey(provider: string, key: string, baseURL: string): KeyTest {
    const nowhere = { ok: false, ms: 0, models: [], vendor: '', server: '' };
    if (provider === '' && key.startsWith('gsk_')) return { ...nowhere, message: 'This looks like a key for Groq. It was not sent anywhere. To use it, add https://api.groq.com/openai/v1 as a server under Settings, Providers.', provider: 'groq', vendor: 'Groq', server: 'https://api.groq.com/openai/v1' };
    const service = presetViews().find((preset) => preset.id === provider || new URL(preset.baseUrl).host === provider);
    if (service && !key.includes('bad')) return { ok: true, ms: 210, message: 'Works, 2 models', models: ['llama-4-scout', 'qwen3-32b'], provider: new URL(service.baseUrl).host, vendor: '', server: '' };
    if (provider === '' && key.startsWith('pplx-')) return { ...nowhere, message: 'This looks like a key for Perplexity. It was not sent anywhere.', provider: 'perplexity', vendor: 'Perplexity', server: 'https://api.perplexity.ai' };
    const found = provider || (key.startsWith('sk-ant-') ? 'anthropic' : key.startsWith('sk-proj-') ? 'openai' : '');
    if (found === '' && baseURL === '') return { ...nowhere, message: 'The provider cannot be determined from this key. Choose the provider below. Until then, the key is not sent anywhere.', provider: '' };
    if (key.includes('bad')) return { ...nowhere, ms: 212, message: 'The provider refused this key (401). Check that it was copied whole and is still active.', provider: found };
    const models = baseURL !== '' ? ['llama3.3:70b', 'qwen3:8b'] : found === 'anthropic' ? ['claude-sonnet', 'claude-haiku'] : ['gpt-5', 'gpt-5-mini'];
    return { ok: true, ms: 318, message: `Works, ${models.length} models`, models, provider: found || 'chatcompletions', vendor: '', server: '' };
  }

  #setting(key: string): Setting {
    const found = this.settings.find((candidate) => candidate.key === key);
    if (!found) throw new BackendError(errorView(`There is no setting ${key}`));
    return found;
  }
}

function faultOf(found: Setting, value: string): string {
  if (found.type === 'choice' && !found.choices.includes(value)) return `${found.key} must be one of ${found.choices.join(', ')}`;
  if (found.type !== 'int' && found.type !== 'float') return '';
  const number = Number(value);
  if (value.trim() === '' || Number.isNaN(number)) return `${found.key} must be a number, not “${value}”`;
  return number < found.min || number > found.max ? `${found.key} must be between ${found.min} and ${found.max}` : '';
}

function vendorModels(): ModelView[] {
  return [
    modelView({ name: 'sonnet', provider: 'anthropic', modelId: 'claude-sonnet', apiKeyEnv: 'ANTHROPIC_API_KEY', maxOutput: 64_000 }),
    modelView({ name: 'gpt', provider: 'openai', modelId: 'gpt-5', apiKeyEnv: 'OPENAI_API_KEY', contextLimit: 400_000, usable: false, reason: 'There is no key for openai' }),
  ];
}

function seedModels(firstRun: boolean): ModelView[] {
  const [sonnet, gpt] = vendorModels() as [ModelView, ModelView];
  return [
    ...(firstRun ? [] : [{ ...sonnet, default: true, usable: true, reason: '' }, gpt]),
    modelView({ name: 'local', provider: 'chatcompletions', modelId: 'qwen3:8b', baseUrl: 'http://127.0.0.1:11434/v1', contextLimit: 32_768, ceiling: 26_000, limitSource: 'configured', builtIn: false, usable: !firstRun, reason: firstRun ? 'The server does not answer' : '' }),
    modelView({ default: firstRun }),
  ];
}

function seedKeys(firstRun: boolean, keyringOk: boolean): KeyView[] {
  const source = firstRun ? '' : keyringOk ? 'keyring' : 'this run';
  return [
    { provider: 'anthropic', source, env: 'ANTHROPIC_API_KEY', baseUrl: 'https://api.anthropic.com', models: ['sonnet'], needed: true, keyringOk },
    { provider: 'openai', source: '', env: 'OPENAI_API_KEY', baseUrl: 'https://api.openai.com/v1', models: ['gpt'], needed: true, keyringOk },
  ];
}

function seedSettings(): Setting[] {
  const number = { type: 'int', unit: 'tokens' };
  return [
    setting({ key: 'general.default_model', label: 'Default model', help: 'The model of a new session.', value: 'sonnet', default: '' }),
    setting({ key: 'general.instructions', label: 'Instructions for all chats', help: 'Custom instructions (system prompt), sent before those of each session.', type: 'text', value: '', default: '' }),
    setting({ key: 'general.favourite_models', label: 'Favourite models', help: 'The names of the models that are listed first in every model list.', type: 'list', value: '[]', default: '[]' }),
    setting({ key: 'ui.language', label: 'Language', help: 'The language of the window.', type: 'choice', choices: ['system', 'en', 'de', 'zh-CN'], value: 'system', default: 'system' }),
    setting({ key: 'ui.send_key', label: 'Key that sends', help: 'With Ctrl+Enter, Enter begins a new line of the message.', type: 'choice', choices: ['Enter', 'Ctrl+Enter'], value: 'Enter', default: 'Enter' }),
    setting({ key: 'desktop.close_to_tray', label: 'Close to the tray', help: 'Closing the window leaves the program in the tray, where there is one.', type: 'bool', value: 'true', default: 'true' }),
    setting({ key: 'desktop.notifications', label: 'Notifications', help: 'Tells when a long answer ends while the window is hidden.', type: 'bool', value: 'true', default: 'true' }),
    setting({ key: 'desktop.quick_ask_keys', label: 'Quick ask from anywhere', help: 'Keys that open the small window whichever program you are in.', type: 'string', value: '', default: '' }),
    setting({ key: 'updates.url', label: 'Release feed', help: 'The https address that is asked for new versions; on this computer, also an http address.', type: 'string', value: '', default: '' }),
    setting({ key: 'updates.daily', label: 'Check for a new version every day', help: 'Off, the feed is asked only when you ask.', type: 'bool', value: 'false', default: 'false' }),
    setting({ key: 'export.format', group: 'Export', label: 'Format', help: 'What dragging a session out of the window makes.', type: 'choice', choices: ['bundle', 'md', 'json', 'html'], value: 'bundle', default: 'bundle' }),
    setting({ key: 'budget.working_set_tokens', group: 'Context budget', label: 'Working set', help: 'The most input one request may hold. More remembers more and costs more.', value: '50000', default: '50000', min: 2_000, max: 2_000_000, ...number }),
    setting({ key: 'budget.compact_at', group: 'Context budget', label: 'Compact at', help: 'Share of the history allowance at which the oldest originals give way to summaries.', type: 'float', value: '0.85', default: '0.85', min: 0.5, max: 1 }),
    setting({ key: 'budget.pending_window_tokens', group: 'Context budget', label: 'Pending window', help: 'Room for turns not yet committed.', value: '12000', default: '8000', min: 500, max: 200_000, origin: 'file', ...number }),
    setting({ key: 'stream.durability', group: 'Streaming', label: 'Durability', help: 'Whether text may be shown before it is on disk.', type: 'choice', choices: ['buffered', 'write_ahead'], value: 'buffered', default: 'buffered' }),
    setting({ key: 'stream.fsync_ms', group: 'Streaming', label: 'Sync every', help: 'How long shown text may be only buffered.', type: 'int', unit: 'ms', value: '2000', default: '2000', min: 50, max: 10_000 }),
    setting({ key: 'librarian.model', group: 'Librarian', label: 'Model', help: 'The model that writes state summaries.', value: 'auto', default: 'auto' }),
    setting({ key: 'librarian.commit', group: 'Librarian', label: 'Commit', help: 'When the summary of a turn is made.', type: 'choice', choices: ['eager', 'lazy'], value: 'eager', default: 'eager' }),
    setting({ key: 'retrieval.scope', group: 'Memory and search', label: 'Scope', help: 'Where memory is searched.', type: 'choice', choices: ['lineage', 'session', 'all'], value: 'lineage', default: 'lineage' }),
    setting({ key: 'mcp.server.http', group: 'Other programs', label: 'Serve other programs over HTTP', help: 'Lets programs on this computer that have a token read this memory over HTTP while the window is open.', type: 'bool', value: 'false', default: 'false' }),
    setting({ key: 'mcp.server.port', group: 'Other programs', label: 'Port', help: 'The port of the HTTP server. Other programs have it in their configuration.', type: 'int', value: '7468', default: '7468', min: 1024, max: 65535 }),
    setting({ key: 'tools.mode', group: 'Tools', label: 'Tools', help: 'disabled offers no tools and treats a call as an error. parse_only shows calls and runs none. Tool definitions count towards the request.', type: 'choice', choices: ['disabled', 'parse_only', 'enabled'], value: 'disabled', default: 'disabled' }),
    setting({ key: 'context.infinity', group: 'Context', label: 'Unlimited history', help: 'Off is plain chat: durable, but over budget is an error.', type: 'bool', value: 'true', default: 'true' }),
    setting({ key: 'appearance.theme', group: 'Appearance', label: 'Theme', help: 'Light, dark or high contrast.', type: 'choice', choices: ['system', 'light', 'dark', 'contrast'], value: 'system', default: 'system' }),
    setting({ key: 'appearance.text_zoom', group: 'Appearance', label: 'Text size', help: 'Scales the whole window.', type: 'int', unit: '%', value: '100', default: '100', min: 80, max: 200 }),
    setting({ key: 'appearance.code_wrap', group: 'Appearance', label: 'Wrap long lines of code', help: 'Off, code scrolls sideways.', type: 'bool', value: 'false', default: 'false' }),
    setting({ key: 'appearance.code_numbers', group: 'Appearance', label: 'Line numbers in code', help: 'They are not copied with the code.', type: 'bool', value: 'false', default: 'false' }),
    setting({ key: 'keys.shortcuts', group: 'Keyboard', label: 'Shortcuts', help: 'Keys of your own, as "command=keys".', type: 'list', value: '[]', default: '[]' }),
    setting({ key: 'appearance.previews', group: 'Appearance', label: 'Preview diagrams, SVG and HTML', help: 'What it shows runs no script and opens no connection.', type: 'bool', value: 'true', default: 'true' }),
    setting({ key: 'appearance.code_size', group: 'Appearance', label: 'Code size', help: 'Size of code beside the rest of the text.', type: 'int', unit: '%', value: '100', default: '100', min: 75, max: 175 }),
    setting({ key: 'appearance.message_width', group: 'Appearance', label: 'Message width', help: 'Maximum line width of the conversation.', type: 'choice', choices: ['narrow', 'normal', 'wide', 'full'], value: 'normal', default: 'normal' }),
    setting({ key: 'appearance.motion', group: 'Appearance', label: 'Motion', help: 'reduced: disables animation, whatever the desktop setting.', type: 'choice', choices: ['system', 'reduced'], value: 'system', default: 'system' }),
  ];
}
