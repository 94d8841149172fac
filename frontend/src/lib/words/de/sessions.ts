import type en from '../en/sessions';
import type { Translation } from '../words.svelte';

export default {} satisfies Translation<typeof en>;
