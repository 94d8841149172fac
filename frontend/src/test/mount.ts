import { render } from '@testing-library/svelte';
import type { Component } from 'svelte';
import { fakeBackend, type FakeBackend, type FakeOptions } from '$lib/backend/fake';
import { App } from '$lib/state/app.svelte';
import Mounted from './Mounted.svelte';

/** A started App with a fake program. */
export async function startedApp(options: Partial<FakeOptions> = {}): Promise<{ app: App; backend: FakeBackend }> {
  localStorage.clear();
  // With the inspector open, which is closed by default.
  localStorage.setItem('contextinfinity.layout', JSON.stringify({ collapsed: { sessions: false, inspector: false } }));
  const backend = fakeBackend({ data: 'empty', ...options });
  const app = new App(backend);
  await app.start();
  return { app, backend };
}

/** Mounts a component in the context of the App. */
export function mountIn<Props extends Record<string, unknown>>(app: App, component: Component<Props>, props: Props) {
  return render(Mounted as unknown as Component<Record<string, unknown>>, { props: { app, of: component, props } });
}
