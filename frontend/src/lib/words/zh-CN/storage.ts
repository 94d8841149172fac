import type en from '../en/storage';
import type { Translation } from '../words.svelte';

export default {} satisfies Translation<typeof en>;
