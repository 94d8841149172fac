import type en from '../en/servers';
import type { Translation } from '../words.svelte';

export default {} satisfies Translation<typeof en>;
