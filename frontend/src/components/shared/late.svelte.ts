/** How long a wait may be without being shown, in ms: what comes sooner would only flicker. */
const patience = 150;

/** Becomes true once `waiting` has been for a while. Call it while a component is being set up. */
export function late(waiting: () => boolean): { readonly shown: boolean } {
  let shown = $state(false);
  $effect(() => {
    if (!waiting()) return;
    const timer = setTimeout(() => (shown = true), patience);
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
