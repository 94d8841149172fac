import type en from '../en/keys';
import type { Translation } from '../i18n.svelte';

export default {
  lead: '点击某个命令的按键，然后按下新的按键。Enter、Esc 和方向键的作用处处相同。',
  resetAll: '重置所有按键',
  recording: '请按下按键…',
  recordingFor: '请按下“{command}”的按键，或按 Esc',
  none: '无按键',
  or: '或',
  change: '更改',
  of: '“{command}”的按键：{keys}。更改',
  ofBoth: '“{command}”的按键：{keys} 或 {also}。更改',
  ofNone: '“{command}”的按键：无。更改',
  reset: '重置“{command}”的按键',
  remove: '移除“{command}”的按键',
  taken: '{keys} 属于“{command}”，更改后该命令将没有按键。',
  use: '用于此处',
  fixed: '{keys} 有固定用途，不能更改：{doing}。',
  needed: '{keys} 用于移动、书写和退出。请选择字母、数字或功能键。',
  writes: '单独按 {keys} 会输入字符。请同时按住 Ctrl 或 Alt。',
  editing: '编辑文本',
  closing: '关闭窗口',
  choosing: '在列表中选择多个会话',
  deciding: '处理工具调用',
} satisfies Translation<typeof en>;
