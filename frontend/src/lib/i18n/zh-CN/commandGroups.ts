import type en from '../en/commandGroups';
import type { Translation } from '../i18n.svelte';

export default {
  sessions: '会话',
  branches: '分支',
  search: '搜索',
  memory: '记忆与上下文',
  writing: '书写',
  reading: '阅读',
  window: '窗口',
} satisfies Translation<typeof en>;
