import type en from '../en/quick';
import type { Translation } from '../words.svelte';

export default {
  folder: 'Schnellfragen',
  title: 'Schnellfrage',
  more: 'In einer eigenen Sitzung gespeichert. Esc schließt.',
  continue: 'Im Fenster fortsetzen',
} satisfies Translation<typeof en>;
