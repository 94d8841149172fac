import type en from '../en/errors';
import type { Translation } from '../i18n.svelte';

export default {
  notOffered: '程序不提供 {method}',
  notWritten: '文件未写入。',
} satisfies Translation<typeof en>;
