import type en from '../en/keys';
import type { Translation } from '../i18n.svelte';

export default {
  lead: 'Klicken Sie auf die Tasten eines Befehls und drücken Sie andere. Was Enter, Esc und die Pfeiltasten tun, bleibt überall gleich.',
  resetAll: 'Alle Tasten zurücksetzen',
  recording: 'Tasten drücken…',
  recordingFor: 'Drücken Sie die Tasten für {command}, oder Esc',
  none: 'Keine Tasten',
  or: 'oder',
  change: 'Ändern',
  of: 'Tasten für {command}: {keys}. Ändern',
  ofBoth: 'Tasten für {command}: {keys} oder {also}. Ändern',
  ofNone: 'Tasten für {command}: keine. Ändern',
  reset: 'Tasten für {command} zurücksetzen',
  remove: 'Tasten für {command} entfernen',
  taken: '{keys} gehört zu „{command}“; dieser Befehl hat danach keine Tasten.',
  use: 'Hier verwenden',
  fixed: '{keys} hat eine feste Bedeutung: {doing}.',
  needed: '{keys} wird zum Navigieren, zum Tippen und zum Schließen von Dialogen gebraucht. Wählen Sie einen Buchstaben, eine Ziffer oder eine Funktionstaste.',
  writes: '{keys} allein gibt ein Zeichen ein. Halten Sie dazu Strg oder Alt.',
  editing: 'Text bearbeiten',
  closing: 'Fenster schließen',
  choosing: 'Mehrere Sitzungen in der Liste auswählen',
  deciding: 'Über Werkzeugaufrufe entscheiden',
} satisfies Translation<typeof en>;
