import type en from '../en/windows';
import type { Translation } from '../i18n.svelte';

export default {
  open: 'In neuem Fenster öffnen',
} satisfies Translation<typeof en>;
