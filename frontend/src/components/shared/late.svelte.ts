/** How long a wait is not shown, in ms: a shorter one would only flicker. */
const patience = 150;

/** Becomes true once `waiting` has been true for that many ms. Call it during component setup. */
export function late(waiting: () => boolean, ms = patience): { readonly shown: boolean } {
  let shown = $state(false);
  // Derived, because what it depends on may change while it stays true: the wait does not begin again then.
  const waits = $derived(waiting());
  $effect(() => {
    if (!waits) return;
    const timer = setTimeout(() => (shown = true), ms);
    return () => {
      clearTimeout(timer);
      shown = false;
    };
  });
  return {
    get shown() {
      return shown;
    },
  };
}
