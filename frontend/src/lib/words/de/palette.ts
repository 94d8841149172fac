import type en from '../en/palette';
import type { Translation } from '../words.svelte';

export default {} satisfies Translation<typeof en>;
