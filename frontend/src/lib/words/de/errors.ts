import type en from '../en/errors';
import type { Translation } from '../words.svelte';

export default {
  notOffered: 'Das Programm bietet {method} nicht an',
  notWritten: 'Die Datei wurde nicht geschrieben.',
} satisfies Translation<typeof en>;
