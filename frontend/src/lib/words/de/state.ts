import type en from '../en/state';
import type { Translation } from '../words.svelte';

export default {} satisfies Translation<typeof en>;
