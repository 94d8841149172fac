import type { KeyView, ModelView } from '$lib/backend/types';
import { t } from '$lib/words/words.svelte';

const names: Record<string, string> = {
  openai: 'OpenAI',
  anthropic: 'Anthropic',
  chatcompletions: 'Chat Completions',
  recall: 'recall',
};

/** Protocols a compatible server may speak, as people know them. */
export const protocols = (): { value: string; label: string }[] => [
  { value: 'chatcompletions', label: t('settings.chatCompletions') },
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
    return t('settings.wholeAddress');
  }
  return /^https?:$/.test(parsed.protocol) ? '' : t('settings.addressBegins');
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
      return t('settings.keyInKeyring');
    case 'environment':
      return t('settings.keyFrom', { env: key.env });
    case 'this run':
      return t('settings.keyForRun');
    default:
      return key.needed ? t('settings.withoutKey') : t('settings.noKeyNeeded');
  }
}

/** What pasting a key here will do, given where one is now and whether it can be kept. */
export function keyHelp(key: KeyView): string {
  const { env } = key;
  const sentences = (...all: (string | false)[]) => all.filter(Boolean).join(' ');
  const kept = key.keyringOk ? t('settings.pastedKept') : sentences(t('settings.noKeyring'), env !== '' && t('settings.toKeepOne', { env }));
  switch (key.source) {
    case 'keyring':
      return t('settings.keyIsInKeyring');
    case 'environment':
      return sentences(t('settings.readFrom', { env }), kept, t('settings.takesPlace'));
    default:
      if (!key.needed) return sentences(t('settings.askedWithout'), kept);
      return sentences(kept, env !== '' && key.keyringOk && t('settings.orSet', { env }));
  }
}
