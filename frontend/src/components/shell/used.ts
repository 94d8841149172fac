import type { App } from '$lib/state/app.svelte';

/** How often the program learns that somebody uses the window, in milliseconds. */
const every = 20_000;

/** Tells the program that the window is used, because sealed data is locked after some time without use. */
export function reportUse(app: App): () => void {
  let told = -every;
  const used = ({ timeStamp }: Event) => {
    if (timeStamp - told < every || !app.startup.info || app.startup.fatal) return;
    told = timeStamp;
    void app.backend.sealing.active().catch(() => undefined); // a program that does not respond locks nothing either
  };
  const kinds = ['pointermove', 'pointerdown', 'keydown', 'wheel'] as const;
  for (const kind of kinds) window.addEventListener(kind, used, { capture: true, passive: true });
  return () => kinds.forEach((kind) => window.removeEventListener(kind, used, { capture: true }));
}
