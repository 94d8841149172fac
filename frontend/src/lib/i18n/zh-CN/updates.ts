import type en from '../en/updates';
import type { Translation } from '../i18n.svelte';

export default {
  check: '检查新版本',
  checking: '正在检查…',
  newer: '版本 {version} 已发布。',
  current: '截至 {when}，这是最新版本。',
  unknown: '最新版本是 {version}。此副本不知道自己的版本。',
  noFeed: '不会检查新版本：上方未设置发布来源。',
  open: '打开其页面',
} satisfies Translation<typeof en>;
