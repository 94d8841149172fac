import type en from '../en/keyNames';
import type { Translation } from '../i18n.svelte';

export default {
  ctrl: 'Strg',
  alt: 'Alt',
  shift: 'Umschalt',
  delete: 'Entf',
  enter: 'Enter',
  esc: 'Esc',
  tab: 'Tab',
  space: 'Leertaste',
  backspace: 'Rücktaste',
  insert: 'Einfg',
  home: 'Pos1',
  end: 'Ende',
  pageUp: 'Bild↑',
  pageDown: 'Bild↓',
} satisfies Translation<typeof en>;
