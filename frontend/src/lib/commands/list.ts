/**
 * Everything one can tell the window to do: the one list behind the palette, the slash commands, the shortcuts and their
 * sheet. What each does is in state/commands.
 */

/** A place in the list of sessions, from 1. */
export type SessionPlace = `session${1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9}`;

export type CommandId =
  | 'palette' | 'help' | 'undo' | 'new' | 'temporary' | 'decide' | 'serverItems' | 'renameSession' | 'archiveSession' | 'duplicateSession' | 'eraseSession' | 'sessionSettings' | 'stop'
  | 'import' | 'export' | 'share' | 'work' | 'pauseWork' | 'storage' | 'backUp'
  | 'search' | 'searchAll' | 'find' | 'findNext' | 'findPrevious' | 'goTo' | 'recall'
  | 'switch' | 'tree' | 'fork' | 'rollback' | 'compare' | 'renameBranch'
  | 'model' | 'pin' | 'commit' | 'summarize' | 'context' | 'tabBranches' | 'tabPending' | 'tabMemory' | 'tabState' | 'tabActivity'
  | 'sessions' | 'inspector' | 'composer' | 'settings' | 'zoomIn' | 'zoomOut' | 'zoomReset' | 'light' | 'dark' | 'contrast' | 'system'
  | 'rename' | 'archive' | 'send' | 'newline' | 'editLast' | 'older' | 'scrollEnds' | 'turns' | 'closeView' | 'quit' | 'nextSession' | 'previousSession' | SessionPlace | 'moveAttachment' | 'print' | 'codeWrap' | 'codeNumbers';

export const commandGroups = ['Sessions', 'Branches', 'Search', 'Memory and context', 'Writing', 'Reading', 'Window'] as const;
export type CommandGroup = (typeof commandGroups)[number];

/** How a command is written in the composer. */
export interface Slash {
  name: string;
  /** What follows the name, as lists show it; empty for nothing. */
  argument: string;
  /** It means nothing without its argument. */
  needed: boolean;
}

export interface Entry {
  id: CommandId;
  title: string;
  group: CommandGroup;
  keys?: string;
  /** More keys for the same. */
  also?: string;
  slash?: Slash;
  /** Other words one may look for it by. */
  words?: string;
  /** A key of one place, or of no use in the palette: not offered there. */
  local?: true;
  /** Of those: heard by the whole window all the same, so that its keys can be changed. */
  everywhere?: true;
  /** Its keys are the same for everyone. */
  fixed?: true;
}

const slash = (name: string, argument = ''): Slash => ({ name, argument, needed: argument !== '' && !argument.startsWith('[') });

export const entries: readonly Entry[] = [
  { id: 'palette', title: 'Find a command', group: 'Window', keys: 'Ctrl+K', local: true, everywhere: true },
  { id: 'help', title: 'Keys and commands', group: 'Window', keys: '?', also: 'Ctrl+/', slash: slash('help'), words: 'shortcuts help sheet' },
  { id: 'undo', title: 'Undo', group: 'Window', keys: 'Ctrl+Z', words: 'take back revert' },
  { id: 'new', title: 'New conversation', group: 'Sessions', keys: 'Ctrl+N', words: 'chat session create' },
  { id: 'temporary', title: 'Temporary chat (not saved)', group: 'Sessions', keys: 'Ctrl+Shift+N', words: 'incognito private' },
  { id: 'renameSession', title: 'Rename this session', group: 'Sessions', slash: slash('rename', '[title]'), words: 'title' },
  { id: 'archiveSession', title: 'Archive this session', group: 'Sessions', slash: slash('archive'), words: 'put away delete remove' },
  { id: 'duplicateSession', title: 'Duplicate this session', group: 'Sessions', words: 'copy' },
  { id: 'eraseSession', title: 'Delete this session permanently…', group: 'Sessions', words: 'erase remove destroy hard delete' },
  { id: 'sessionSettings', title: 'System prompt, temperature and effort of this session', group: 'Sessions', slash: slash('settings'), words: 'session settings' },
  { id: 'import', title: 'Import history from other programs, or a bundle', group: 'Sessions', keys: 'Ctrl+O', slash: slash('import'), words: 'open file chatgpt claude codex transcript migrate restore' },
  { id: 'export', title: 'Export a turn, this branch, this session or all', group: 'Sessions', keys: 'Ctrl+E', slash: slash('export', '[what]'), words: 'save download markdown html json bundle file' },
  { id: 'share', title: 'Share this conversation as a web page or bundle', group: 'Sessions', keys: 'Ctrl+Shift+S', slash: slash('share'), words: 'send pass on file html' },
  { id: 'rename', title: 'Rename the session in the list', group: 'Sessions', keys: 'F2', local: true },
  { id: 'archive', title: 'Archive the session in the list', group: 'Sessions', keys: 'Delete', local: true },
  { id: 'nextSession', title: 'Session that was open before; hold Ctrl to go further', group: 'Sessions', keys: 'Ctrl+Tab', also: 'Ctrl+Shift+Tab', words: 'recent switch', local: true },
  { id: 'session1', title: 'First to ninth session of the list', group: 'Sessions', keys: 'Ctrl+1', also: 'Ctrl+9', words: 'place number', local: true },
  { id: 'switch', title: 'Switch branch', group: 'Branches', keys: 'Ctrl+J' },
  { id: 'tabBranches', title: 'Show the branches', group: 'Branches', words: 'tree inspector' },
  { id: 'tree', title: 'Show the tree at full size', group: 'Branches', words: 'branches graph map' },
  { id: 'fork', title: 'New branch after the newest turn', group: 'Branches', slash: slash('fork', '[label]'), words: 'fork' },
  { id: 'rollback', title: 'New branch from an earlier state; nothing is deleted', group: 'Branches', slash: slash('rollback', '[#turn]'), words: 'roll back revert' },
  { id: 'compare', title: 'Compare this branch with another', group: 'Branches', slash: slash('compare', '[branch]'), words: 'diff two branches' },
  { id: 'renameBranch', title: 'Rename this branch', group: 'Branches', words: 'label' },
  { id: 'search', title: 'Search the sessions by title', group: 'Search', keys: '/' },
  { id: 'searchAll', title: 'Search all conversations', group: 'Search', keys: 'Ctrl+Shift+F', slash: slash('search', 'TEXT'), words: 'global messages all' },
  { id: 'find', title: 'Find in this conversation', group: 'Search', keys: 'Ctrl+F', slash: slash('find', 'TEXT') },
  { id: 'findNext', title: 'Next match', group: 'Search', keys: 'F3', local: true, everywhere: true },
  { id: 'findPrevious', title: 'Previous match', group: 'Search', keys: 'Shift+F3', local: true, everywhere: true },
  { id: 'recall', title: 'Search memory and attach a result to the message', group: 'Memory and context', slash: slash('recall', 'TEXT') },
  { id: 'tabMemory', title: 'Show the memory', group: 'Memory and context', words: 'chunks inspector' },
  { id: 'pin', title: 'Pin a fact: sent word for word with every request', group: 'Memory and context', slash: slash('pin', 'TEXT') },
  { id: 'context', title: 'Show the next prompt', group: 'Memory and context', slash: slash('context'), words: 'x-ray xray inspector prompt' },
  { id: 'commit', title: 'Commit pending turns now', group: 'Memory and context', slash: slash('commit') },
  { id: 'tabPending', title: 'Show pending turns', group: 'Memory and context', words: 'inspector' },
  { id: 'summarize', title: 'Summarise old turns now', group: 'Memory and context', slash: slash('summarize') },
  { id: 'tabState', title: 'Show the state summary and its history', group: 'Memory and context', words: 'state inspector pins' },
  { id: 'tabActivity', title: 'Show activity: jobs, figures, recovery', group: 'Memory and context', words: 'inspector charts cost telemetry' },
  { id: 'model', title: 'Answer with another model from now on', group: 'Writing', slash: slash('model', 'NAME') },
  { id: 'decide', title: 'Decide about tool calls that wait', group: 'Writing', keys: 'Ctrl+Shift+A', words: 'approve allow deny permission queue mcp' },
  { id: 'serverItems', title: 'Insert a prompt or attach a resource of a tool server', group: 'Writing', slash: slash('prompt'), words: 'mcp prompts resources' },
  { id: 'composer', title: 'Focus the message field', group: 'Writing', keys: 'Ctrl+L', words: 'write focus composer' },
  { id: 'send', title: 'Send', group: 'Writing', keys: 'Enter', local: true },
  { id: 'newline', title: 'Line break', group: 'Writing', keys: 'Shift+Enter', local: true },
  { id: 'stop', title: 'Stop the answer, or cancel an edit', group: 'Writing', keys: 'Esc', fixed: true },
  { id: 'older', title: 'Earlier messages, when the field is empty (Down: newer, Esc: leave)', group: 'Writing', keys: 'Up', words: 'history again repeat', local: true },
  { id: 'editLast', title: 'Edit the last message, when the field is empty', group: 'Writing', keys: 'Ctrl+Up', local: true },
  { id: 'moveAttachment', title: 'Move an attachment of the message (or drag it)', group: 'Writing', keys: 'Alt+Left', also: 'Alt+Right', words: 'order reorder picture document', local: true },
  { id: 'goTo', title: 'Go to a turn: number, percentage or day', group: 'Reading', keys: 'Ctrl+G', words: 'jump date' },
  { id: 'print', title: 'Print this conversation, or save it as PDF', group: 'Reading', keys: 'Ctrl+P', slash: slash('print'), words: 'paper pdf' },
  { id: 'codeWrap', title: 'Wrap or scroll long lines of code', group: 'Reading', words: 'code block appearance' },
  { id: 'codeNumbers', title: 'Show or hide line numbers in code', group: 'Reading', words: 'code block appearance' },
  { id: 'scrollEnds', title: 'Jump to the newest turn, and Home to the first', group: 'Reading', keys: 'End', local: true },
  { id: 'turns', title: 'Previous turn (Alt+Down: next turn)', group: 'Reading', keys: 'Alt+Up', local: true },
  { id: 'sessions', title: 'Show or hide the sessions', group: 'Window', keys: 'Ctrl+B', words: 'sidebar' },
  { id: 'inspector', title: 'Show or hide the inspector', group: 'Window', keys: 'Ctrl+I', words: 'panel' },
  { id: 'work', title: 'Show tasks: imports, exports, backups', group: 'Window', words: 'tasks progress report' },
  { id: 'pauseWork', title: 'Pause or resume background work', group: 'Memory and context', words: 'resume jobs librarian stop' },
  { id: 'closeView', title: 'Close the dialog or view in front, else the window', group: 'Window', keys: 'Ctrl+W', words: 'close hide' },
  { id: 'quit', title: 'Quit', group: 'Window', keys: 'Ctrl+Q', words: 'exit end leave' },
  { id: 'settings', title: 'Settings', group: 'Window', keys: 'Ctrl+,', words: 'preferences options configuration' },
  { id: 'storage', title: 'Data and backups: sizes, copies, restore, receipts', group: 'Window', words: 'storage disk folder move directory restore deleted' },
  { id: 'backUp', title: 'Back up now…', group: 'Window', words: 'copy save storage' },
  { id: 'zoomIn', title: 'Larger text', group: 'Window', keys: 'Ctrl++', words: 'zoom' },
  { id: 'zoomOut', title: 'Smaller text', group: 'Window', keys: 'Ctrl+-', words: 'zoom' },
  { id: 'zoomReset', title: 'Text at 100 %', group: 'Window', keys: 'Ctrl+0', words: 'zoom' },
  { id: 'light', title: 'Light theme', group: 'Window', words: 'appearance look' },
  { id: 'dark', title: 'Dark theme', group: 'Window', words: 'appearance look night' },
  { id: 'contrast', title: 'High contrast theme', group: 'Window', words: 'appearance look accessibility' },
  { id: 'system', title: 'Use system theme', group: 'Window', words: 'appearance look' },
];

const byId = new Map(entries.map((entry) => [entry.id, entry]));

export function entryOf(id: CommandId): Entry {
  return byId.get(id)!;
}
