import type { Backend } from '$lib/backend/backend';
import type { Setting } from '$lib/backend/types';
import { commandGroups, entries, entryOf, groupTitle, type CommandId, type Entry } from '$lib/commands/list';
import { listOf } from '$lib/tomlList';
import { defaultChords, fixedCommand, hasNothingToUndo, isForFields, isRebindable, isTyping, chordOf, parseBindings, type Chord } from '$lib/shortcuts';
import type { ToastsState } from './toasts.svelte';

/** The configuration key of the shortcuts. */
export const shortcutsKey = 'keys.shortcuts';

/** The keys of each command: the default ones, unless the user chose others. */
export class Keymap {
  #chosen = $state.raw<ReadonlyMap<CommandId, Chord>>(new Map());
  #saving: Promise<void> = Promise.resolve();
  #sendKey = $state<'Enter' | 'Ctrl+Enter'>('Enter');
  readonly #byChord = $derived(this.#index());
  readonly #backend: Backend;
  readonly #toasts: ToastsState;

  constructor(backend: Backend, toasts: ToastsState) {
    this.#backend = backend;
    this.#toasts = toasts;
  }

  /** Some keys differ from the defaults. */
  get changed(): boolean {
    return this.#chosen.size > 0;
  }

  isChanged(id: CommandId): boolean {
    return this.#chosen.has(id);
  }

  /** The key of a command; empty: none. */
  keys(id: CommandId): Chord {
    return this.#chosen.get(id) ?? entryOf(id).keys ?? '';
  }

  /** A second key of the command; undefined: none. */
  also(id: CommandId): Chord | undefined {
    return this.#chosen.has(id) ? undefined : entryOf(id).also;
  }

  /** A label that ends with the default keys of its command, "Settings (Ctrl+,)", with the current ones. */
  label(text: string, id: CommandId): string {
    const bare = text.replace(/\s*[(（](?:(?:Ctrl|Alt|Shift)\+.+|F\d+|[/?])[)）]$/, '');
    const keys = this.keys(id);
    return keys === '' ? bare : `${bare} (${keys})`;
  }

  /**
   * Keys and slash commands as listed in the settings and the shortcut sheet; optionally also the commands that have no
   * keys but can be given some.
   */
  groups(withoutKeys = false): readonly { title: string; entries: readonly Entry[] }[] {
    return commandGroups.map((group) => ({
      title: groupTitle(group), entries: entries.filter((entry) => entry.group === group && (this.keys(entry.id) !== '' || entry.slash !== undefined || (withoutKeys && isRebindable(entry)))),
    }));
  }

  /** The window-wide command for a key press, if there is one. */
  commandOf(event: KeyboardEvent): CommandId | null {
    if (event.defaultPrevented || event.isComposing) return null;
    const chord = chordOf(event);
    if (chord === null || (isForFields(chord) && isTyping(event.target) && !(chord === 'Ctrl+Z' && hasNothingToUndo(event.target)))) return null;
    return fixedCommand(chord) ?? this.#byChord.get(chord) ?? null;
  }

  /** The key that sends a message. */
  get sendKey(): 'Enter' | 'Ctrl+Enter' {
    return this.#sendKey;
  }

  /** The command that a key currently belongs to. */
  ownerOf(chord: Chord): CommandId | null {
    return this.#byChord.get(chord) ?? null;
  }

  /** Applies the configuration without writing it back. */
  adopt(lines: readonly string[]): void {
    this.#chosen = parseBindings(lines);
  }

  /** The same, from the list of all settings. */
  adoptSettings(settings: readonly Setting[]): void {
    const value = settings.find((setting) => setting.key === shortcutsKey)?.value;
    if (value !== undefined) this.adopt(listOf(value) ?? []);
    this.#sendKey = settings.find((setting) => setting.key === 'ui.send_key')?.value === 'Ctrl+Enter' ? 'Ctrl+Enter' : 'Enter';
  }

  /**
   * Assigns a key as the only key of a command and removes it from any other command. An empty key leaves the command
   * without one.
   */
  assign(id: CommandId, chord: Chord): Promise<void> {
    const next = new Map(this.#chosen);
    const owner = chord === '' ? null : this.ownerOf(chord);
    if (owner && owner !== id) next.set(owner, '');
    next.set(id, chord);
    return this.#save(next);
  }

  /** Resets a command to its default keys, which are removed from any other command. */
  reset(id: CommandId): Promise<void> {
    const next = new Map(this.#chosen);
    for (const chord of defaultChords(entryOf(id))) {
      const owner = this.ownerOf(chord);
      if (owner && owner !== id) next.set(owner, '');
    }
    next.delete(id);
    return this.#save(next);
  }

  resetAll(): Promise<void> {
    return this.#save(new Map());
  }

  #index(): ReadonlyMap<Chord, CommandId> {
    const found = new Map<Chord, CommandId>();
    const add = (id: CommandId, chords: readonly Chord[]) => chords.forEach((chord) => chord !== '' && !found.has(chord) && found.set(chord, id));
    for (const [id, chord] of this.#chosen) add(id, [chord]); // chosen keys take precedence over default ones
    for (const entry of entries) if (isRebindable(entry) && !this.#chosen.has(entry.id)) add(entry.id, defaultChords(entry));
    return found;
  }

  /** Applied at once and written in order. A rejected change is undone. */
  #save(next: ReadonlyMap<CommandId, Chord>): Promise<void> {
    this.#chosen = next;
    this.#saving = this.#saving.then(async () => {
      try {
        if (next.size === 0) await this.#backend.settings.reset(shortcutsKey);
        else await this.#backend.settings.set(shortcutsKey, JSON.stringify([...next].map(([id, chord]) => `${id}=${chord}`)));
      } catch (error) {
        this.#toasts.error(error);
        this.adoptSettings((await this.#backend.settings.settings()).settings);
      }
    });
    return this.#saving;
  }
}
