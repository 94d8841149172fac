import type en from '../en/memory';
import type { Translation } from '../words.svelte';

export default {} satisfies Translation<typeof en>;
