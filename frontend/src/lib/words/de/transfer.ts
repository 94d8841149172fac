import type en from '../en/transfer';
import type { Translation } from '../words.svelte';

export default {} satisfies Translation<typeof en>;
