import type en from '../en/units';
import type { Translation } from '../i18n.svelte';

export default {
  thousands: '{n}k',
  millions: '{n}M',
  bytes: '{n}\u202fB',
  kilobytes: '{n}\u202fkB',
  megabytes: '{n}\u202fMB',
  gigabytes: '{n}\u202fGB',
  milliseconds: '{n}\u202fms',
  seconds: '{n}\u202fs',
  minutes: '{minutes}\u202fmin {seconds}\u202fs',
  hours: '{hours}\u202fh {minutes}\u202fmin',
  comma: ', ',
} satisfies Translation<typeof en>;
