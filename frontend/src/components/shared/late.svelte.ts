/** How long a wait is not shown, in ms: a shorter one would only flicker. */
const delayMs = 150;

/** Becomes true once `waiting` has been true for that many ms. Call it during component setup. */
export function late(waiting: () => boolean, ms = delayMs): { readonly shown: boolean } {
  let shown = $state(false);
  // Derived, so that the delay does not start again when a dependency changes but the result stays true.
  const isWaiting = $derived(waiting());
  $effect(() => {
    if (!isWaiting) return;
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
