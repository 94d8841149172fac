import type en from '../en/updates';
import type { Translation } from '../i18n.svelte';

export default {
  check: 'Nach neuer Version suchen',
  checking: 'Wird gesucht…',
  newer: 'Version {version} ist verfügbar.',
  current: 'Dies ist die neueste Version, Stand {when}.',
  unknown: 'Die neueste Version ist {version}. Diese Kopie kennt ihre eigene nicht.',
  noFeed: 'Nach neuen Versionen wird nicht gesucht: Oben ist keine Quelle eingetragen.',
  open: 'Seite öffnen',
} satisfies Translation<typeof en>;
