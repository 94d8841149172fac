import {
  appendFileSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statfsSync, statSync, writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Provider } from './provider.ts';

/** The key for the mock provider. It must not appear in anything that the program writes or shows. */
export const canaryKey = 'sk-canary-5f1d7c0e9b3a48268d2f';

/** In bytes. The largest home, that of ten thousand turns, has about a tenth of this. */
const roomForHomes = 1e9;

/**
 * A home directory for one test: configuration, data and cache in the XDG directories, and an environment that contains
 * nothing of the machine's real user, in particular none of their API keys.
 */
export class Home {
  readonly root: string;
  readonly configFile: string;
  readonly dataDir: string;

  configured = false;

  constructor(isOnDisk = false) {
    this.root = mkdtempSync(join(isOnDisk ? tmpdir() : homesDir(), 'contextinfinity-'));
    this.configFile = join(this.root, '.config', 'contextinfinity', 'config.toml');
    this.dataDir = join(this.root, '.local', 'share', 'contextinfinity');
    mkdirSync(join(this.root, 'run'), { mode: 0o700 });
    mkdirSync(join(this.root, '.config', 'contextinfinity'), { recursive: true });
  }

  env(extraEnv: Record<string, string> = {}): Record<string, string> {
    const env: Record<string, string> = {
      HOME: this.root,
      XDG_CONFIG_HOME: join(this.root, '.config'),
      XDG_DATA_HOME: join(this.root, '.local', 'share'),
      XDG_CACHE_HOME: join(this.root, '.cache'),
      XDG_STATE_HOME: join(this.root, '.local', 'state'),
      XDG_RUNTIME_DIR: join(this.root, 'run'),
      LANG: 'C.UTF-8',
      TZ: 'UTC',
      ...(this.configured ? { CONTEXTINFINITY_E2E_KEY: canaryKey } : {}),
      ...extraEnv,
    };
    for (const name of ['PATH', 'DISPLAY', 'DBUS_SESSION_BUS_ADDRESS', 'GSETTINGS_BACKEND', 'NO_AT_BRIDGE']) {
      const value = process.env[name];
      if (value !== undefined && !(name in extraEnv)) env[name] = value;
    }
    return env;
  }

  /** Configures models that reach the provider over each protocol. */
  configure(provider: Provider, extraConfig = '', defaultModel = 'mock'): void {
    const model = (name: string, protocol: string, base: string) => `
[models.${name}]
provider = "${protocol}"
model_id = "${name}-1"
base_url = "${base}"
api_key_env = "CONTEXTINFINITY_E2E_KEY"
context_limit = 128000
max_output = 4096
`;
    this.configured = true;
    writeFileSync(
      this.configFile,
      `[general]\ndefault_model = "${defaultModel}"\n${extraConfig}\n` +
        // Tests look for English texts in every locale. A test of another language sets it.
        (extraConfig.includes('[ui]') ? '' : '[ui]\nlanguage = "en"\n') +
        // Tests count requests, so the program sends none of its own. A test of the librarian enables it.
        (extraConfig.includes("[librarian]") ? "" : "[librarian]\nmodel = \"\"\n") +
        model('mock', 'openai', `${provider.url}/v1`) +
        model('mock-messages', 'anthropic', provider.url) +
        model('mock-chat', 'chatcompletions', `${provider.url}/v1`),
    );
  }

  /** Adds a model to the configuration. */
  addModel(table: string): void {
    appendFileSync(this.configFile, `\n${table}`);
  }

  /** The stream journals by the id of their step. */
  journals(): Map<string, Journal> {
    const journals = new Map<string, Journal>();
    const dir = join(this.dataDir, 'streams');
    for (const name of entriesOf(dir)) {
      if (name.endsWith('.jsonl')) journals.set(name.slice(0, -'.jsonl'.length), readJournal(join(dir, name)));
    }
    return journals;
  }

  /** Names of the files in this home that contain the text. */
  filesContaining(text: string): string[] {
    const bytes = Buffer.from(text);
    return filesBelow(this.root).filter((name) => readFileSync(name).includes(bytes));
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

/** Where homes are: in memory if there is room, because most tests wait for the disk otherwise. */
function homesDir(): string {
  const memory = '/dev/shm';
  try {
    const { bavail, bsize } = statfsSync(memory);
    return bavail * bsize > roomForHomes ? memory : tmpdir();
  } catch {
    return tmpdir(); // not Linux
  }
}

export interface Journal {
  text: string;
  /** done, error or stopped; empty for an incomplete journal. */
  end: string;
  lines: number;
}

/**
 * Reads a journal (SPEC 5) independently of the program: one JSON entry per line, with the provider's event as its
 * payload.
 */
function readJournal(file: string): Journal {
  const journal: Journal = { text: '', end: '', lines: 0 };
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    if (line === '') continue;
    let entry;
    try {
      entry = JSON.parse(line);
    } catch {
      break; // an incomplete last line
    }
    journal.lines++;
    if (entry.provider === 'contextinfinity') journal.end = entry.event_type;
    else journal.text += visibleText(payloadOf(entry));
  }
  return journal;
}

function payloadOf(entry: { payload?: unknown; payload_b64?: string }): Record<string, any> {
  if (entry.payload_b64 === undefined) return (entry.payload ?? {}) as Record<string, any>;
  return JSON.parse(Buffer.from(entry.payload_b64, 'base64').toString('utf8'));
}

/** The text that an event of one of the three protocols adds to the visible text. */
function visibleText(event: Record<string, any>): string {
  if (event.type === 'response.output_text.delta') return event.delta ?? '';
  if (event.type === 'content_block_delta') return event.delta?.text ?? '';
  return event.choices?.[0]?.delta?.content ?? '';
}

function filesBelow(dir: string): string[] {
  return entriesOf(dir).flatMap((name) => {
    const path = join(dir, name);
    const info = statSync(path, { throwIfNoEntry: false });
    if (info?.isDirectory()) return filesBelow(path);
    return info?.isFile() ? [path] : [];
  });
}

function entriesOf(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch {
    return []; // not created yet, or removed since
  }
}
