import type en from '../en/errors';
import type { Translation } from '../i18n.svelte';

export default {
  notOffered: 'Das Programm bietet {method} nicht an',
  notWritten: 'Die Datei wurde nicht geschrieben.',
} satisfies Translation<typeof en>;
