import type en from '../en/commandWords';
import type { Translation } from '../i18n.svelte';

export default {
  rollback: 'zurückrollen rückgängig Rollback',
  codeWrap: 'Zeilenumbruch Umbruch',
  codeNumbers: 'Nummerierung',
  light: 'hell Tag weiß Modus Thema Erscheinungsbild',
  dark: 'dunkel Nacht schwarz Modus Thema Erscheinungsbild',
  contrast: 'Kontrast kontrastreich Barrierefreiheit Thema Erscheinungsbild',
  system: 'automatisch Modus Thema Erscheinungsbild',
} satisfies Translation<typeof en>;
