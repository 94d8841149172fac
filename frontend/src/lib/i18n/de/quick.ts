import type en from '../en/quick';
import type { Translation } from '../i18n.svelte';

export default {
  folder: 'Schnellfragen',
  title: 'Schnellfrage',
  more: 'In einer eigenen Sitzung gespeichert. Esc schließt.',
  continue: 'Im Fenster fortsetzen',
  keysAsking: 'Die Arbeitsumgebung hat noch nicht geantwortet. Vielleicht fragt sie Sie in einem eigenen Fenster.',
  keysBound: 'Aktiv: {keys} öffnet das kleine Fenster.',
  keysRefused: 'Halten Sie Strg, Alt oder Super mit einem Buchstaben, einer Ziffer oder einer anderen Taste wie der Leertaste oder einer Pfeiltaste, oder drücken Sie F1 bis F12.',
} satisfies Translation<typeof en>;
