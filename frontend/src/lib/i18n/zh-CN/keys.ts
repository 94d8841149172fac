import type en from '../en/keys';
import type { Translation } from '../i18n.svelte';

export default {
  lead: '点击某个命令的快捷键，然后按下新的快捷键。Enter、Esc 和方向键的作用处处相同，不能更改。',
  resetAll: '重置所有快捷键',
  recording: '请按下新的快捷键…',
  recordingFor: '请为“{command}”按下新的快捷键，或按 Esc 取消',
  none: '无快捷键',
  or: '或',
  change: '更改',
  of: '“{command}”的快捷键：{keys}。更改',
  ofBoth: '“{command}”的快捷键：{keys} 或 {also}。更改',
  ofNone: '“{command}”的快捷键：无。更改',
  reset: '重置“{command}”的快捷键',
  remove: '移除“{command}”的快捷键',
  taken: '{keys} 属于“{command}”，更改后该命令将没有快捷键。',
  use: '用于此处',
  fixed: '{keys} 有固定用途，不能更改：{doing}。',
  needed: '{keys} 用于导航、输入和关闭对话框。请选择字母、数字或功能键。',
  writes: '单独按 {keys} 会输入字符。请同时按住 Ctrl 或 Alt。',
  editing: '编辑文本',
  closing: '关闭窗口',
  choosing: '在列表中选择多个会话',
  deciding: '处理工具调用',
} satisfies Translation<typeof en>;
