/** The current time, updated every second, but only while something counts down. */
export function ticking(needed: () => boolean): { readonly now: number } {
  let now = $state(Date.now());
  const active = $derived(needed());
  $effect(() => {
    if (!active) return;
    now = Date.now();
    const timer = setInterval(() => (now = Date.now()), 1000);
    return () => clearInterval(timer);
  });
  return {
    get now() {
      return now;
    },
  };
}
