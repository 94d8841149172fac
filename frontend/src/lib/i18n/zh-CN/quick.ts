import type en from '../en/quick';
import type { Translation } from '../i18n.svelte';

export default {
  folder: '快速提问',
  title: '快速提问',
  more: '保存在单独的会话中。按 Esc 关闭。',
  continue: '在主窗口中继续',
  keysAsking: '正在等待桌面环境回应。它可能正在用自己的窗口询问您。',
  keysBound: '已生效：{keys} 打开小窗口。',
  keysRefused: '请按住 Ctrl、Alt 或 Super，再按字母、数字或其他按键（如空格、方向键）；也可以直接按 F1 到 F12。',
} satisfies Translation<typeof en>;
