import type en from '../en/windows';
import type { Translation } from '../i18n.svelte';

export default {
  open: '在新窗口中打开',
} satisfies Translation<typeof en>;
