import type { Backend } from '$lib/backend/backend';
import type { ServersPanel, ToolDecision, ToolDefinitionView, ToolPermissionView, ToolsPanel } from '$lib/backend/types';
import { Act, Loaded } from '$shared/loaded.svelte';

/** What one source offers, with the number of definitions that need a review. */
export interface ToolSource {
  source: string;
  definitions: ToolDefinitionView[];
  unseen: number;
}

/** The page about tools: which tools there are, which decisions were made, and the actions on them. */
export class ToolsPage {
  readonly panel: Loaded<ToolsPanel>;
  readonly servers: Loaded<ServersPanel>;
  /** Named after the object of the action, so that the error is shown there. */
  readonly act = new Act();
  readonly #backend: Backend;

  constructor(backend: Backend) {
    this.#backend = backend;
    this.panel = new Loaded(() => backend.tools.panel());
    this.servers = new Loaded(() => backend.servers.servers());
  }

  /** Whether tools and servers have been loaded, or could not be: they are shown together, so that none moves the others. */
  get loaded(): boolean {
    return [this.panel, this.servers].every(({ value, error }) => value !== undefined || error !== undefined);
  }

  /** In the program's order. */
  get sources(): ToolSource[] {
    const bySource = new Map<string, ToolDefinitionView[]>();
    for (const definition of this.panel.value?.definitions ?? []) bySource.set(definition.source, [...(bySource.get(definition.source) ?? []), definition]);
    return [...bySource].map(([source, definitions]) => ({ source, definitions, unseen: definitions.filter(unseen).length }));
  }

  accept(definition: ToolDefinitionView): Promise<boolean> {
    return this.#do(keyOf(definition), () => this.#backend.tools.accept(definition.source, definition.tool, definition.hash));
  }

  /**
   * Accepts every definition of a source that needs a review. All of them are shown on the page, with their
   * descriptions.
   */
  acceptAll(definitions: readonly ToolDefinitionView[]): Promise<boolean> {
    const source = definitions[0]?.source ?? '';
    return this.#do(source, async () => {
      for (const definition of definitions.filter(unseen)) await this.#backend.tools.accept(definition.source, definition.tool, definition.hash);
    });
  }

  permit(definition: ToolDefinitionView, decision: ToolDecision): Promise<boolean> {
    const { source, tool, hash } = definition;
    return this.#do(keyOf(definition), () => (decision === '' ? this.#backend.tools.forget(source, tool, '') : this.#backend.tools.setPermission(source, tool, '', decision, hash)));
  }

  markReadOnly(definition: ToolDefinitionView, readOnly: boolean): Promise<boolean> {
    return this.#do(keyOf(definition), () => this.#backend.tools.markReadOnly(definition.source, definition.tool, readOnly ? definition.hash : ''));
  }

  revoke(permission: ToolPermissionView): Promise<boolean> {
    return this.#do(permissionKey(permission), () => this.#backend.tools.forget(permission.source, permission.tool, permission.sessionId));
  }

  async #do(name: string, work: () => Promise<void>): Promise<boolean> {
    const done = await this.act.run(name, work);
    await this.panel.refresh();
    return done;
  }
}

/** A new or changed definition: models are not offered it before the user has reviewed it. */
export function unseen(definition: ToolDefinitionView): boolean {
  return definition.pinned === 'new' || definition.pinned === 'changed';
}

export const keyOf = ({ source, tool }: Pick<ToolDefinitionView, 'source' | 'tool'>): string => `${source}\n${tool}`;
export const permissionKey = (permission: ToolPermissionView): string => `${keyOf(permission)}\n${permission.sessionId}\n${permission.decision}`;
