import type { KeyView, ModelView, PresetView } from '$lib/backend/types';
import { t } from '$lib/i18n/i18n.svelte';

const names: Record<string, string> = {
  openai: 'OpenAI',
  anthropic: 'Anthropic',
  chatcompletions: 'Chat Completions',
  recall: 'recall',
};

/** Services with a known address: the first start and the settings offer the same. */
export const servicesOf = (presets: readonly PresetView[]): PresetView[] => presets.filter((preset) => !preset.local && !preset.baseUrl.includes('RESOURCE'));

/** The protocols of compatible servers, with their common names. */
export const protocols = (): { value: string; label: string }[] => [
  { value: 'chatcompletions', label: t('settings.chatCompletions') },
  { value: 'openai', label: 'OpenAI Responses' },
  { value: 'anthropic', label: 'Anthropic Messages' },
];

/** A provider's name; for a compatible server its host. */
export function providerName(provider: string): string {
  return names[provider] ?? provider;
}

/** The line below a model's name in a menu. */
export function providerDetail(model: { provider: string }): string {
  return model.provider === 'recall' ? t('header.builtIn') : providerName(model.provider);
}

/** The host of a server, without scheme and path. */
export function hostOf(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return '';
  }
}

/**
 * A typed address with its scheme: http for this machine and private networks, https otherwise. An address that has a
 * scheme is only trimmed.
 */
export function withScheme(typed: string): string {
  const address = typed.trim();
  if (address === '' || /^[a-z][a-z0-9+.-]*:\/\//i.test(address)) return address;
  const host = address.replace(/[/?#].*$/, '').replace(/:\d+$/, '').toLowerCase();
  if (!/^(\[[0-9a-f:]+\]|[a-z0-9.-]+)$/.test(host) || !(host.includes('.') || host === 'localhost' || host.startsWith('['))) return address;
  const nearby = /^(localhost|127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|\[::1\]$|\[f[cd])/.test(host) || /\.(local|localhost|lan|internal)$/.test(host);
  return `${nearby ? 'http' : 'https'}://${address}`;
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

/** Whether a key sent to this address could be intercepted: plain http to another machine. */
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
 * The protocol and the address for testing a key. A vendor's key has the vendor's protocol; the key of another server
 * has the protocol of the first model on that server's host.
 */
export function testedAt(key: KeyView, models: readonly ModelView[]): { protocol: string; baseUrl: string } {
  const model = models.find((candidate) => candidate.baseUrl !== '' && hostOf(candidate.baseUrl) === key.provider);
  return model ? { protocol: model.provider, baseUrl: model.baseUrl } : { protocol: key.provider, baseUrl: key.baseUrl };
}

/** Where the key is stored, as part of a sentence. */
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

/** What pasting a key here will do, depending on where the present one is and whether it can be stored. */
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
