import type en from '../en/shared';
import type { Translation } from '../words.svelte';

export default {
  cancel: '取消',
  close: '关闭',
  copy: '复制',
  copied: '已复制',
  notCopied: '未能复制：请选中后按 Ctrl+C',
  textNotCopied: '无法复制文本。请选中后按 Ctrl+C。',
  dismiss: '忽略',
  discardQuestion: '不保存就关闭？已输入的内容将丢失。',
  keepEditing: '继续编辑',
  discard: '放弃',
  loading: '{what}：正在加载',
  notices: '通知',
  remove: '移除',
  showMore: '显示更多',
  charactersLeft: '还有 {count, number} 个字符',
  tryAgain: '重试',
} satisfies Translation<typeof en>;
