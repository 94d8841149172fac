import { render } from '@testing-library/svelte';
import type { Component } from 'svelte';
import { fakeBackend, type FakeBackend, type FakeOptions } from '$lib/backend/fake';
import { App } from '$lib/state/app.svelte';
import { endings } from './endings';
import Mounted from './Mounted.svelte';

/**
 * Starts an App, and stops it after the test: its later refreshes would change the next test, for example its language.
 */
export async function startApp(backend: FakeBackend): Promise<App> {
  const app = new App(backend);
  endings.add(() => app.stop());
  await app.start();
  return app;
}

/** A started App with a fake program. */
export async function startedApp(options: Partial<FakeOptions> = {}): Promise<{ app: App; backend: FakeBackend }> {
  localStorage.clear();
  // With the inspector open, which is closed by default.
  localStorage.setItem('contextinfinity.layout', JSON.stringify({ collapsed: { sessions: false, inspector: false } }));
  const backend = fakeBackend({ data: 'empty', ...options });
  return { app: await startApp(backend), backend };
}

/** Mounts a component in the context of the App. */
export function mountIn<Props extends Record<string, unknown>>(app: App, component: Component<Props>, props: Props) {
  return render(Mounted as unknown as Component<Record<string, unknown>>, { props: { app, of: component, props } });
}
