import type en from '../en/shared';
import type { Translation } from '../words.svelte';

export default {
  cancel: 'Abbrechen',
  close: 'Schließen',
  copy: 'Kopieren',
  copied: 'Kopiert',
  notCopied: 'Nicht kopiert: auswählen und Strg+C drücken',
  textNotCopied: 'Der Text konnte nicht kopiert werden. Wählen Sie ihn aus und drücken Sie Strg+C.',
  dismiss: 'Ausblenden',
  discardQuestion: 'Ohne Speichern schließen? Ihre Eingaben gehen dabei verloren.',
  keepEditing: 'Weiter bearbeiten',
  discard: 'Verwerfen',
  loading: '{what}: wird geladen',
  notices: 'Hinweise',
  remove: 'Entfernen',
  showMore: 'Mehr anzeigen',
  charactersLeft: 'Noch {count, number} Zeichen',
  tryAgain: 'Erneut versuchen',
} satisfies Translation<typeof en>;
