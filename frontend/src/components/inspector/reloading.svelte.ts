import { onMount, untrack } from 'svelte';
import { getApp } from '$lib/state/app.svelte';
import type { ChangeKind } from '$lib/backend/types';
import { Refresh } from '$lib/state/refresh';
import type { Loaded } from '$shared/loaded.svelte';

/**
 * Keeps a panel's data true: loads it for the branch looked at, forgets it when that
 * is another, and asks again when something of the given kinds changed. Call it while
 * a component is being set up.
 */
export function reloading(data: Loaded<unknown>, branch: () => string, kinds: readonly ChangeKind[]): void {
  const { backend } = getApp();
  const refresh = new Refresh(() => data.refresh());
  // The branch is read from a header that is replaced with each turn: only another branch makes the data another's.
  const current = $derived(branch());
  $effect(() => {
    const looked = current;
    untrack(() => {
      data.reset();
      if (looked) void data.refresh();
    });
  });
  onMount(() => {
    const off = backend.onChange((change) => {
      if (kinds.includes(change.kind) && branch()) refresh.soon();
    });
    return () => {
      off();
      refresh.cancel();
    };
  });
}
