import type en from '../en/temporary';
import type { Translation } from '../words.svelte';

export default {} satisfies Translation<typeof en>;
