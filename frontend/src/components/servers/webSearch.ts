/** Services with a documented MCP server that searches the web. */
import type { ServerSettings } from '$lib/backend/types';
import { emptySettings } from './labels';

export interface WebSearch {
  /** The name of the server. */
  id: string;
  name: string;
  url: string;
  /** How a key is sent. */
  header: string;
  prefix: string;
  needsKey: boolean;
  /** The page where a person gets a key. */
  keysAt: string;
}

/** As of November 2026, in the READMEs of exa-labs/exa-mcp-server and tavily-ai/tavily-mcp. */
export const webSearches: readonly WebSearch[] = [
  { id: 'exa', name: 'Exa', url: 'https://mcp.exa.ai/mcp', header: 'x-api-key', prefix: '', needsKey: false, keysAt: 'https://dashboard.exa.ai/api-keys' },
  { id: 'tavily', name: 'Tavily', url: 'https://mcp.tavily.com/mcp/', header: 'Authorization', prefix: 'Bearer ', needsKey: true, keysAt: 'https://app.tavily.com/home' },
];

/** The settings of the server; its key becomes a secret in the keyring. */
export function settingsOf({ id, url, header, prefix }: WebSearch, key: string): ServerSettings {
  return { ...emptySettings(), name: id, url, headers: key === '' ? [] : [{ name: header, value: prefix + key, secret: true }] };
}
