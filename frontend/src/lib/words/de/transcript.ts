import type en from '../en/transcript';
import type { Translation } from '../words.svelte';

export default {} satisfies Translation<typeof en>;
