import { render } from '@testing-library/svelte';
import type { Component } from 'svelte';
import { fakeBackend, type FakeBackend, type FakeOptions } from '$lib/backend/fake';
import type { App } from '$lib/state/app.svelte';
import { startApp } from '../../../test/mount';
import Harness from './Harness.svelte';

// jsdom has dialogs but cannot open them.
HTMLDialogElement.prototype.showModal ??= function (this: HTMLDialogElement) {
  this.setAttribute('open', '');
};
HTMLDialogElement.prototype.close ??= function (this: HTMLDialogElement) {
  this.removeAttribute('open');
};

export interface Mounted {
  app: App;
  backend: FakeBackend;
}

/** Mounts a component with a started fake program, as in the window. */
export async function mountWith<P extends object>(
  component: Component<P>,
  props: P | ((app: App) => P),
  options: Partial<FakeOptions> = {},
  prepare: (backend: FakeBackend) => void = () => undefined,
): Promise<Mounted> {
  const backend = fakeBackend(options);
  prepare(backend);
  // With the inspector open, which is closed by default.
  if (localStorage.getItem('contextinfinity.layout') === null) localStorage.setItem('contextinfinity.layout', JSON.stringify({ collapsed: { sessions: false, inspector: false } }));
  const app = await startApp(backend);
  const resolvedProps = typeof props === 'function' ? props(app) : props;
  render(Harness, { props: { app, of: component as unknown as Component<Record<string, unknown>>, props: resolvedProps as Record<string, unknown> } });
  return { app, backend };
}
