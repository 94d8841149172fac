import type en from '../en/tools';
import type { Translation } from '../words.svelte';

export default {} satisfies Translation<typeof en>;
