import type { KeyView, ModelView } from '$lib/backend/types';

const names: Record<string, string> = {
  openai: 'OpenAI',
  anthropic: 'Anthropic',
  chatcompletions: 'Chat Completions',
  recall: 'recall',
};

/** Protocols a compatible server may speak, as people know them. */
export const protocols = [
  { value: 'chatcompletions', label: 'Chat Completions (most local servers and gateways)' },
  { value: 'openai', label: 'OpenAI Responses' },
  { value: 'anthropic', label: 'Anthropic Messages' },
];

/** A provider's own name; a compatible server goes by its host. */
export function providerName(provider: string): string {
  return names[provider] ?? provider;
}

/** Where a server is, without scheme and path. */
export function hostOf(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return '';
  }
}

/** What is wrong with a server's address, or "". */
export function addressProblem(url: string): string {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    return 'Give a whole address, such as http://127.0.0.1:8000/v1';
  }
  return /^https?:$/.test(parsed.protocol) ? '' : 'The address begins with http:// or https://';
}

/** A key that is sent to this address could be read on the way: plain http to another machine. */
export function exposesKey(address: string): boolean {
  let parsed: URL;
  try {
    parsed = new URL(address);
  } catch {
    return false;
  }
  return parsed.protocol === 'http:' && !/^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/.test(parsed.hostname);
}

/**
 * What a key is tried against: the protocol and the address. A vendor's key goes by its protocol; that of another
 * server by the server's host, so the protocol is that of the first model there.
 */
export function testedAt(key: KeyView, models: readonly ModelView[]): { protocol: string; baseUrl: string } {
  const model = models.find((candidate) => candidate.baseUrl !== '' && hostOf(candidate.baseUrl) === key.provider);
  return model ? { protocol: model.provider, baseUrl: model.baseUrl } : { protocol: key.provider, baseUrl: key.baseUrl };
}

/** The key's place, as one says it in a sentence. */
export function keyPlace(key: KeyView): string {
  switch (key.source) {
    case 'keyring':
      return 'key in the system keyring';
    case 'environment':
      return `key from ${key.env}`;
    case 'this run':
      return 'key for this run only';
    default:
      return key.needed ? 'no key' : 'no key needed';
  }
}

/** What pasting a key here will do, given where one is now and whether it can be kept. */
export function keyHelp(key: KeyView): string {
  const kept = key.keyringOk
    ? 'A pasted key is tested first, then kept in the system keyring.'
    : `This system has no keyring: a key pasted here is kept in memory, for this run only.${key.env ? ` To keep one, set ${key.env} in the environment and start again.` : ''}`;
  switch (key.source) {
    case 'keyring':
      return 'In the system keyring. A new key is tested before the old one is replaced.';
    case 'environment':
      return `Read from ${key.env}. ${kept} It then takes the place of the variable's.`;
    default:
      if (!key.needed) return `It is asked without a key. ${kept}`;
      return key.env && key.keyringOk ? `${kept} Or set ${key.env} in the environment before the program starts.` : kept;
  }
}
