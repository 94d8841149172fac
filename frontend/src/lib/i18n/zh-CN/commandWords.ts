import type en from '../en/commandWords';
import type { Translation } from '../i18n.svelte';

export default {
  rollback: '回退 还原 撤回',
  codeWrap: '换行 折行',
  codeNumbers: '行号',
  light: '亮色 浅色 白天 日间模式 外观',
  dark: '暗色 深色 夜间模式 黑色 外观',
  contrast: '高对比度 无障碍 外观',
  system: '自动 跟随系统 外观',
} satisfies Translation<typeof en>;
