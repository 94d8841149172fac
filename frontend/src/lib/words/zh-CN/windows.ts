import type en from '../en/windows';
import type { Translation } from '../words.svelte';

export default {
  open: '在新窗口中打开',
} satisfies Translation<typeof en>;
