import type en from '../en/quick';
import type { Translation } from '../words.svelte';

export default {
  folder: '快速提问',
  title: '快速提问',
  more: '保存在单独的会话中。按 Esc 关闭。',
  continue: '在主窗口中继续',
} satisfies Translation<typeof en>;
