import type en from '../en/find';
import type { Translation } from '../i18n.svelte';

export default {
  endAt: 'Das Ende ist bei 100\u202f%',
  noDay: 'Diesen Tag gibt es nicht',
  holds: 'Dieser Zweig enthält #{first} bis #{last}',
  whatGoal: 'Eine Nummer, ein Prozentwert oder ein Tag: #1200, 40\u202f%, 18. November, 2026-11-18, gestern',
  today: 'heute',
  yesterday: 'gestern',
} satisfies Translation<typeof en>;
