import type en from '../en/session';
import type { Translation } from '../words.svelte';

export default {} satisfies Translation<typeof en>;
