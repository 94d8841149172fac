import type en from '../en/firstrun';
import type { Translation } from '../words.svelte';

export default {} satisfies Translation<typeof en>;
