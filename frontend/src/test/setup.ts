import '@testing-library/jest-dom/vitest';
import { configure } from '@testing-library/svelte';
import { afterEach } from 'vitest';
import { watchOwnDrags } from '$lib/ownDrag';
import { endings } from './endings';

// The time limit of findBy and waitFor: a busy machine needs more than the default second.
configure({ asyncUtilTimeout: 30_000 });

// The files of a process share its document and its modules (isolate in vite.config.ts). Each begins with an empty
// document and storage, and without a drag, whatever the file before it left.
document.body.replaceChildren();
for (const element of [document.body, document.documentElement]) for (const { name } of [...element.attributes]) element.removeAttribute(name);
localStorage.clear();
sessionStorage.clear();
watchOwnDrags()();

afterEach(() => {
  for (const end of endings) end();
  endings.clear();
  localStorage.clear();
});

// jsdom has no layout, so observers of sizes get stubs that do nothing.
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
