import type en from '../en/embedders';
import type { Translation } from '../words.svelte';

export default {} satisfies Translation<typeof en>;
