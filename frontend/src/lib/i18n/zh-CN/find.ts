import type en from '../en/find';
import type { Translation } from '../i18n.svelte';

export default {
  endAt: '末尾为 100%',
  noDay: '没有这一天',
  holds: '此分支包含 #{first} 至 #{last}',
  whatGoal: '编号、百分比或日期：#1200、40%、11月18日、2026-11-18、昨天',
  today: '今天',
  yesterday: '昨天',
} satisfies Translation<typeof en>;
