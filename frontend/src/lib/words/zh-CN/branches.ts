import type en from '../en/branches';
import type { Translation } from '../words.svelte';

export default {} satisfies Translation<typeof en>;
