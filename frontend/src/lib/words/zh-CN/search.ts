import type en from '../en/search';
import type { Translation } from '../words.svelte';

export default {} satisfies Translation<typeof en>;
