import { onMount, untrack } from 'svelte';
import { getApp } from '$lib/state/app.svelte';
import type { ChangeKind } from '$lib/backend/types';
import { Refresh } from '$lib/state/refresh';
import type { Loaded } from '$shared/loaded.svelte';

/**
 * Keeps a panel's data up to date: loads it for the selected branch, discards it when the branch changes, and reloads
 * after changes of the given kinds. Call it during component setup.
 */
export function reloading(data: Loaded<unknown>, branch: () => string, kinds: readonly ChangeKind[]): void {
  const { backend } = getApp();
  const refresh = new Refresh(() => data.refresh());
  // The header is replaced with each turn, so only a different branch discards the data.
  const current = $derived(branch());
  $effect(() => {
    const branchId = current;
    untrack(() => {
      data.reset();
      if (branchId) void data.refresh();
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
