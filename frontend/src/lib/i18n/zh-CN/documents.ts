import type en from '../en/documents';
import type { Translation } from '../i18n.svelte';

export default {
  read: '阅读文档',
  tokensInPart: '{count, plural, other {# 个 token}}，部分',
  partHelp: '消息中包含其中一部分。全文都在记忆中，可供检索。',
  longText: '这段文本很长。作为文档附加可保持对话易读。',
  attach: '作为文档附加',
  keepAsText: '保留为文本',
  tokensAndType: '{count, plural, other {# 个 token}}，{type}',
  copyText: '复制文本',
  textOf: '{name} 的文本',
  reading: '正在读取…',
} satisfies Translation<typeof en>;
