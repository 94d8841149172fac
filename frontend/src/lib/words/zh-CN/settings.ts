import type en from '../en/settings';
import type { Translation } from '../words.svelte';

export default {} satisfies Translation<typeof en>;
