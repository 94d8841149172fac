import type en from '../en/autostart';
import type { Translation } from '../i18n.svelte';

export default {
  label: 'Beim Anmelden starten',
  help: 'Das Programm startet verborgen im Infobereich; von dort öffnen Sie das Fenster. Ohne Infobereich öffnet sich das Fenster.',
  on: 'Ein',
  off: 'Aus',
  place: 'Eintrag: {place}',
  other: 'Das System startet eine andere Kopie des Programms: {path}.',
  useThis: 'Stattdessen diese starten',
} satisfies Translation<typeof en>;
