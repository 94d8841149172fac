import type en from '../en/commandGroups';
import type { Translation } from '../i18n.svelte';

export default {
  sessions: 'Sitzungen',
  branches: 'Zweige',
  search: 'Suche',
  memory: 'Gedächtnis und Kontext',
  writing: 'Schreiben',
  reading: 'Lesen',
  window: 'Fenster',
} satisfies Translation<typeof en>;
