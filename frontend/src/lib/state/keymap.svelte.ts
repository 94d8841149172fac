import type { Backend } from '$lib/backend/backend';
import type { Setting } from '$lib/backend/types';
import { commandGroups, entries, entryOf, groupTitle, type CommandId, type Entry } from '$lib/commands/list';
import { defaultChords, fixedCommand, isForFields, isRebindable, isTyping, chordOf, parseBindings, type Chord } from '$lib/shortcuts';
import type { ToastsState } from './toasts.svelte';

/** The list of keys in the configuration. */
export const shortcutsKey = 'keys.shortcuts';

/** Which keys represent which command: those of the list of commands, but where a person chose others. */
export class Keymap {
  #chosen = $state.raw<ReadonlyMap<CommandId, Chord>>(new Map());
  #saving: Promise<void> = Promise.resolve();
  readonly #byChord = $derived(this.#index());
  readonly #backend: Backend;
  readonly #toasts: ToastsState;

  constructor(backend: Backend, toasts: ToastsState) {
    this.#backend = backend;
    this.#toasts = toasts;
  }

  /** Some keys are not those of the list. */
  get changed(): boolean {
    return this.#chosen.size > 0;
  }

  isChanged(id: CommandId): boolean {
    return this.#chosen.has(id);
  }

  /** What a command is called with; empty: no key. */
  keys(id: CommandId): Chord {
    return this.#chosen.get(id) ?? entryOf(id).keys ?? '';
  }

  /** More keys for the same; undefined: none. */
  also(id: CommandId): Chord | undefined {
    return this.#chosen.has(id) ? undefined : entryOf(id).also;
  }

  /** A label that ends with the usual keys of its command, "Settings (Ctrl+,)", with those that it has now. */
  label(text: string, id: CommandId): string {
    const bare = text.replace(/\s*[(（](?:(?:Ctrl|Alt|Shift)\+.+|F\d+|[/?])[)）]$/, '');
    const keys = this.keys(id);
    return keys === '' ? bare : `${bare} (${keys})`;
  }

  /** Keys and slash commands, as the settings and the sheet list them. Where keys can be chosen, also commands that have none. */
  groups(withoutKeys = false): readonly { title: string; entries: readonly Entry[] }[] {
    return commandGroups.map((group) => ({
      title: groupTitle(group), entries: entries.filter((entry) => entry.group === group && (this.keys(entry.id) !== '' || entry.slash !== undefined || (withoutKeys && isRebindable(entry)))),
    }));
  }

  /** The command of the whole window that a key press is, if it is one. */
  commandOf(event: KeyboardEvent): CommandId | null {
    if (event.defaultPrevented || event.isComposing) return null;
    const chord = chordOf(event);
    if (chord === null || (isForFields(chord) && isTyping(event.target))) return null;
    return fixedCommand(chord) ?? this.#byChord.get(chord) ?? null;
  }

  /** The command that a key belongs to now. */
  ownerOf(chord: Chord): CommandId | null {
    return this.#byChord.get(chord) ?? null;
  }

  /** Takes over what the configuration says, without writing it back. */
  adopt(lines: readonly string[]): void {
    this.#chosen = parseBindings(lines);
  }

  /** The same, from all settings. */
  adoptSettings(settings: readonly Setting[]): void {
    const value = settings.find((setting) => setting.key === shortcutsKey)?.value;
    if (value !== undefined) this.adopt(listOf(value));
  }

  /** Gives a key to a command, alone; the one that had it has none then. An empty key: the command has none. */
  assign(id: CommandId, chord: Chord): Promise<void> {
    const next = new Map(this.#chosen);
    const owner = chord === '' ? null : this.ownerOf(chord);
    if (owner && owner !== id) next.set(owner, '');
    next.set(id, chord);
    return this.#save(next);
  }

  /** Back to the keys of the list. Who has one of them loses it. */
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
    const given = (id: CommandId, chords: readonly Chord[]) => chords.forEach((chord) => chord !== '' && !found.has(chord) && found.set(chord, id));
    for (const [id, chord] of this.#chosen) given(id, [chord]); // what was chosen comes before what is usual
    for (const entry of entries) if (isRebindable(entry) && !this.#chosen.has(entry.id)) given(entry.id, defaultChords(entry));
    return found;
  }

  /** At once, and written in order. What is refused is taken back. */
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

/** A list as the configuration prints it: in TOML, which JSON reads. */
function listOf(value: string): string[] {
  try {
    const list: unknown = JSON.parse(value);
    return Array.isArray(list) ? list.filter((item) => typeof item === 'string') : [];
  } catch {
    return [];
  }
}
