import type en from '../en/models';
import type { Translation } from '../words.svelte';

export default {} satisfies Translation<typeof en>;
