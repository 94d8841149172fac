import type en from '../en/units';
import type { Translation } from '../i18n.svelte';

export default {
  thousands: '{n}k',
  millions: '{n}M',
  bytes: '{n}\u202fB',
  kilobytes: '{n}\u202fkB',
  megabytes: '{n}\u202fMB',
  gigabytes: '{n}\u202fGB',
  milliseconds: '{n}\u202f毫秒',
  seconds: '{n}\u202f秒',
  minutes: '{minutes}\u202f分 {seconds}\u202f秒',
  hours: '{hours} 小时 {minutes} 分',
  comma: '，',
} satisfies Translation<typeof en>;
