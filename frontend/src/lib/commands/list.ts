/**
 * All commands of the window: the one list behind the palette, the slash commands, the shortcuts and the list of
 * shortcuts. state/commands implements them.
 */
import type titles from '$lib/i18n/en/commands';
import searchWords from '$lib/i18n/en/commandWords';
import { t } from '$lib/i18n/i18n.svelte';

/** A position in the list of sessions, from 1. */
export type SessionPlace = `session${1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9}`;

export type CommandId =
  | 'palette' | 'help' | 'undo' | 'new' | 'temporary' | 'decide' | 'decideCall' | 'serverItems' | 'insertPrompt' | 'savePrompt' | 'assistant' | 'assistants' | 'prompts' | 'knows' | 'renameSession' | 'archiveSession' | 'duplicateSession' | 'deleteSession' | 'sessionSettings' | 'newProject' | 'newInProject' | 'projectPage' | 'projectSettings' | 'stop'
  | 'import' | 'export' | 'share' | 'newWindow' | 'work' | 'pauseWork' | 'storage' | 'backUp'
  | 'search' | 'searchAll' | 'find' | 'findNext' | 'findPrevious' | 'goTo' | 'recall'
  | 'switch' | 'tree' | 'fork' | 'rollback' | 'compare' | 'renameBranch'
  | 'model' | 'pin' | 'commit' | 'summarize' | 'context' | 'tabBranches' | 'tabPending' | 'tabMemory' | 'tabState' | 'tabActivity'
  | 'sessions' | 'inspector' | 'composer' | 'quote' | 'settings' | 'zoomIn' | 'zoomOut' | 'zoomReset' | 'light' | 'dark' | 'contrast' | 'system'
  | 'rename' | 'moveSession' | 'chooseSession' | 'archive' | 'send' | 'newline' | 'editLast' | 'older' | 'scrollEnds' | 'turns' | 'closeView' | 'quit' | 'nextSession' | 'previousSession' | SessionPlace | 'moveAttachment' | 'print' | 'codeWrap' | 'codeNumbers' | 'artifact';

export const commandGroups = ['sessions', 'branches', 'search', 'memory', 'writing', 'reading', 'window'] as const;
export type CommandGroup = (typeof commandGroups)[number];

/** The heading of a group. */
export const groupTitle = (group: CommandGroup): string => t(`commandGroups.${group}`);

/** How a command is written in the composer. */
export interface Slash {
  name: string;
  /** The argument after the name, as lists show it; empty if there is none. */
  argument: string;
  /** The command requires its argument. */
  needed: boolean;
  /** Runs only if its whole name was typed: what a list preselects must not put anything away. */
  whole?: true;
}

export interface Entry {
  id: CommandId;
  /** The description in the language of the window. */
  readonly title: string;
  group: CommandGroup;
  keys?: string;
  /** More keys for the same command. */
  also?: string;
  slash?: Slash;
  /** `keys` and `also` are the first and the last of a row of keys. */
  range?: true;
  /** More search terms for it: English ones, whatever the language of the window, and those of its language. */
  readonly words?: string;
  /** A key with a meaning in one place only, or of no use in the palette: not offered there. */
  local?: true;
  /** One of those that work in the whole window, so its keys can be changed. */
  everywhere?: true;
  /** Its keys cannot be changed. */
  fixed?: true;
}

const slash = (name: string, argument = ''): Slash => ({ name, argument, needed: argument !== '' && !argument.startsWith('[') });

type Row = Omit<Entry, 'title'> & { id: keyof typeof titles };

const rows: readonly Row[] = [
  { id: 'palette', group: 'window', keys: 'Ctrl+K', local: true, everywhere: true },
  { id: 'help', group: 'window', keys: '?', also: 'Ctrl+/', slash: slash('help'), words: 'shortcuts help sheet' },
  { id: 'undo', group: 'window', keys: 'Ctrl+Z', words: 'take back revert' },
  { id: 'new', group: 'sessions', keys: 'Ctrl+N', words: 'chat session create' },
  { id: 'temporary', group: 'sessions', keys: 'Ctrl+Shift+N', words: 'incognito private' },
  { id: 'renameSession', group: 'sessions', slash: slash('rename', '[title]'), words: 'title' },
  { id: 'archiveSession', group: 'sessions', slash: { ...slash('archive'), whole: true }, words: 'put away delete remove' },
  { id: 'duplicateSession', group: 'sessions', words: 'copy' },
  { id: 'deleteSession', group: 'sessions', words: 'erase remove destroy hard delete' },
  { id: 'sessionSettings', group: 'sessions', slash: slash('settings'), words: 'session settings' },
  { id: 'newProject', group: 'sessions', words: 'folder workspace' },
  { id: 'newInProject', group: 'sessions', words: 'folder workspace chat' },
  { id: 'projectPage', group: 'sessions', words: 'folder workspace overview sessions' },
  { id: 'projectSettings', group: 'sessions', slash: slash('project'), words: 'folder workspace instructions files documents watch' },
  { id: 'import', group: 'sessions', keys: 'Ctrl+O', slash: slash('import'), words: 'open file chatgpt claude codex transcript migrate restore' },
  { id: 'export', group: 'sessions', keys: 'Ctrl+E', slash: slash('export', '[what]'), words: 'save download markdown html json bundle file' },
  { id: 'share', group: 'sessions', keys: 'Ctrl+Shift+S', slash: slash('share'), words: 'send pass on file html' },
  { id: 'rename', group: 'sessions', keys: 'F2', local: true },
  { id: 'moveSession', group: 'sessions', keys: 'M', words: 'folder put into', local: true },
  { id: 'chooseSession', group: 'sessions', keys: 'Ctrl+Space', words: 'several mark check', local: true },
  { id: 'archive', group: 'sessions', keys: 'Delete', local: true },
  { id: 'nextSession', group: 'sessions', keys: 'Ctrl+Tab', also: 'Ctrl+Shift+Tab', words: 'recent switch', local: true },
  { id: 'session1', group: 'sessions', keys: 'Ctrl+1', also: 'Ctrl+9', range: true, words: 'place number', local: true },
  { id: 'switch', group: 'branches', keys: 'Ctrl+J' },
  { id: 'tabBranches', group: 'branches', words: 'tree inspector' },
  { id: 'tree', group: 'branches', words: 'branches graph map' },
  { id: 'fork', group: 'branches', slash: slash('fork', '[label]'), words: 'fork' },
  { id: 'rollback', group: 'branches', slash: slash('rollback', '[#turn]'), words: 'roll back revert' },
  { id: 'compare', group: 'branches', slash: slash('compare', '[branch]'), words: 'diff two branches' },
  { id: 'renameBranch', group: 'branches', words: 'label' },
  { id: 'search', group: 'search', keys: '/' },
  { id: 'searchAll', group: 'search', keys: 'Ctrl+Shift+F', slash: slash('search', 'TEXT'), words: 'global messages all' },
  { id: 'find', group: 'search', keys: 'Ctrl+F', slash: slash('find', 'TEXT') },
  { id: 'findNext', group: 'search', keys: 'F3', local: true, everywhere: true },
  { id: 'findPrevious', group: 'search', keys: 'Shift+F3', local: true, everywhere: true },
  { id: 'recall', group: 'memory', slash: slash('recall', 'TEXT') },
  { id: 'tabMemory', group: 'memory', words: 'chunks inspector' },
  { id: 'pin', group: 'memory', slash: slash('pin', 'TEXT') },
  { id: 'context', group: 'memory', slash: slash('context'), words: 'x-ray xray inspector prompt' },
  { id: 'commit', group: 'memory', slash: slash('commit') },
  { id: 'tabPending', group: 'memory', words: 'inspector' },
  { id: 'summarize', group: 'memory', slash: slash('summarize') },
  { id: 'tabState', group: 'memory', words: 'state inspector pins' },
  { id: 'tabActivity', group: 'memory', words: 'inspector charts cost telemetry' },
  { id: 'model', group: 'writing', slash: slash('model', 'NAME') },
  { id: 'decide', group: 'writing', keys: 'Ctrl+Shift+A', words: 'approve allow deny permission queue mcp' },
  { id: 'decideCall', group: 'writing', keys: 'Alt+O', words: 'approve allow deny never always once permission mcp', local: true },
  { id: 'insertPrompt', group: 'writing', slash: slash('prompts'), words: 'library snippet template text' },
  { id: 'savePrompt', group: 'writing', words: 'library snippet template' },
  { id: 'assistant', group: 'writing', slash: slash('assistant', '[name]'), words: 'preset persona apply gpt' },
  { id: 'assistants', group: 'window', words: 'preset persona settings gpt' },
  { id: 'prompts', group: 'window', words: 'library snippets templates settings' },
  { id: 'knows', group: 'memory', words: 'about me remembered facts profile forget personal' },
  { id: 'serverItems', group: 'writing', slash: slash('prompt'), words: 'mcp prompts resources' },
  { id: 'composer', group: 'writing', keys: 'Ctrl+L', words: 'write focus composer' },
  { id: 'quote', group: 'writing', keys: 'Alt+Q', words: 'cite reply selection', local: true, everywhere: true },
  { id: 'send', group: 'writing', keys: 'Enter', local: true },
  { id: 'newline', group: 'writing', keys: 'Shift+Enter', local: true },
  { id: 'stop', group: 'writing', keys: 'Esc', fixed: true },
  { id: 'older', group: 'writing', keys: 'Up', words: 'history again repeat', local: true },
  { id: 'editLast', group: 'writing', keys: 'Ctrl+Up', local: true },
  { id: 'moveAttachment', group: 'writing', keys: 'Alt+Left', also: 'Alt+Right', words: 'order reorder picture document', local: true },
  { id: 'goTo', group: 'reading', keys: 'Ctrl+G', words: 'jump date' },
  { id: 'print', group: 'reading', keys: 'Ctrl+P', slash: slash('print'), words: 'paper pdf' },
  { id: 'artifact', group: 'reading', words: 'code page diagram preview canvas side versions' },
  { id: 'codeWrap', group: 'reading', words: 'code block appearance' },
  { id: 'codeNumbers', group: 'reading', words: 'code block appearance' },
  { id: 'scrollEnds', group: 'reading', keys: 'End', local: true },
  { id: 'turns', group: 'reading', keys: 'Alt+Up', local: true },
  { id: 'sessions', group: 'window', keys: 'Ctrl+B', words: 'sidebar' },
  { id: 'inspector', group: 'window', keys: 'Ctrl+I', words: 'panel' },
  { id: 'work', group: 'window', words: 'tasks progress report' },
  { id: 'pauseWork', group: 'memory', words: 'resume jobs librarian stop' },
  { id: 'newWindow', group: 'window', keys: 'Ctrl+Alt+N', words: 'second another beside' },
  { id: 'closeView', group: 'window', keys: 'Ctrl+W', words: 'close hide' },
  { id: 'quit', group: 'window', keys: 'Ctrl+Q', words: 'exit end leave' },
  { id: 'settings', group: 'window', keys: 'Ctrl+,', words: 'preferences options configuration' },
  { id: 'storage', group: 'window', words: 'storage disk folder move directory restore deleted' },
  { id: 'backUp', group: 'window', words: 'copy save storage' },
  { id: 'zoomIn', group: 'window', keys: 'Ctrl++', words: 'zoom' },
  { id: 'zoomOut', group: 'window', keys: 'Ctrl+-', words: 'zoom' },
  { id: 'zoomReset', group: 'window', keys: 'Ctrl+0', words: 'zoom' },
  { id: 'light', group: 'window', words: 'appearance look' },
  { id: 'dark', group: 'window', words: 'appearance look night' },
  { id: 'contrast', group: 'window', words: 'appearance look accessibility' },
  { id: 'system', group: 'window', words: 'appearance look' },
];

const hasWords = (id: Row['id']): id is Row['id'] & keyof typeof searchWords => id in searchWords;

export const entries: readonly Entry[] = rows.map((row) => ({
  ...row,
  get title() {
    return t(`commands.${row.id}`);
  },
  get words() {
    const { id, words = '' } = row;
    return hasWords(id) ? `${words} ${t(`commandWords.${id}`)}`.trim() : words;
  },
}));

const byId = new Map(entries.map((entry) => [entry.id, entry]));

export function entryOf(id: CommandId): Entry {
  return byId.get(id)!;
}
