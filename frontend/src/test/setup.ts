import '@testing-library/jest-dom/vitest';
import { configure } from '@testing-library/svelte';

// How long findBy and waitFor look for something: a busy machine takes longer than the second they would give it.
configure({ asyncUtilTimeout: 30_000 });

// jsdom has no layout: what measures the page gets quiet stand-ins.
class NoObserver {
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
  takeRecords(): [] {
    return [];
  }
}

globalThis.ResizeObserver ??= NoObserver as unknown as typeof ResizeObserver;
globalThis.IntersectionObserver ??= NoObserver as unknown as typeof IntersectionObserver;
HTMLDialogElement.prototype.showModal ??= function (this: HTMLDialogElement) {
  this.open = true;
};
HTMLDialogElement.prototype.close ??= function (this: HTMLDialogElement) {
  this.open = false;
};
Element.prototype.scrollTo ??= () => undefined;
Element.prototype.scrollIntoView ??= () => undefined;
Element.prototype.animate ??= () => ({ finished: Promise.resolve(), cancel: () => undefined, onfinish: null }) as unknown as Animation;
window.matchMedia ??= (query: string) =>
  ({ matches: false, media: query, addEventListener: () => undefined, removeEventListener: () => undefined }) as unknown as MediaQueryList;
