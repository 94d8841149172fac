import type en from '../en/inspector';
import type { Translation } from '../words.svelte';

export default {} satisfies Translation<typeof en>;
