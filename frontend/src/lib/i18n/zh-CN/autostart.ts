import type en from '../en/autostart';
import type { Translation } from '../i18n.svelte';

export default {
  label: '登录时启动',
  help: '程序启动后隐藏在托盘中，可从托盘打开窗口。没有托盘时会直接打开窗口。',
  on: '开',
  off: '关',
  place: '保存于 {place}',
  other: '系统启动的是本程序的另一份副本：{path}。',
  useThis: '改为启动此副本',
} satisfies Translation<typeof en>;
