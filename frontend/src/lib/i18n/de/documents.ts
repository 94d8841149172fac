import type en from '../en/documents';
import type { Translation } from '../i18n.svelte';

export default {
  read: 'Dokument lesen',
  tokensInPart: '{count, plural, one {# Token} other {# Token}}, teilweise',
  partHelp: 'Die Nachricht enthält einen Teil davon. Das Gedächtnis enthält alles und kann es abrufen.',
  longText: 'Dieser Text ist lang. Als Dokument angehängt bleibt die Unterhaltung lesbar.',
  attach: 'Als Dokument anhängen',
  keepAsText: 'Als Text behalten',
  tokensAndType: '{count, plural, one {# Token} other {# Token}}, {type}',
  copyText: 'Text kopieren',
  textOf: 'Text von {name}',
  reading: 'Wird gelesen…',
} satisfies Translation<typeof en>;
