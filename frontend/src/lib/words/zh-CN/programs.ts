import type en from '../en/programs';
import type { Translation } from '../words.svelte';

export default {} satisfies Translation<typeof en>;
