import type en from '../en/keyNames';
import type { Translation } from '../i18n.svelte';

export default {
  ctrl: 'Ctrl',
  alt: 'Alt',
  shift: 'Shift',
  delete: 'Delete',
  enter: 'Enter',
  esc: 'Esc',
  tab: 'Tab',
  space: '空格',
  backspace: 'Backspace',
  insert: 'Insert',
  home: 'Home',
  end: 'End',
  pageUp: 'PageUp',
  pageDown: 'PageDown',
} satisfies Translation<typeof en>;
