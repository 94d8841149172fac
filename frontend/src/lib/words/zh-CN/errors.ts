import type en from '../en/errors';
import type { Translation } from '../words.svelte';

export default {} satisfies Translation<typeof en>;
