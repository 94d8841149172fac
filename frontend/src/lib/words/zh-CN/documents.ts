import type en from '../en/documents';
import type { Translation } from '../words.svelte';

export default {} satisfies Translation<typeof en>;
