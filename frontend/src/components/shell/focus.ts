/**
 * Where the focus goes when nothing has it. Two rules: what is typed or pasted where nothing takes text goes into the
 * message, and when the focused element disappears or is disabled, the message field gets the focus.
 */
import { onMac } from '$lib/keys';
import { isTyping } from '$lib/shortcuts';
import type { App } from '$lib/state/app.svelte';

/** Whether the conversation is in front, so that its message field can take the focus. */
export function isOverChat(app: App): boolean {
  return app.startup.info !== null && !app.startup.fatal && !app.startup.firstRun && app.chatInFront && document.querySelector('dialog[open]') === null;
}

/**
 * Whether a key press types a character. Space does not count: it scrolls or presses a button, and no message begins
 * with one.
 */
export function typesCharacter(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.isComposing || event.metaKey || event.key === ' ' || [...event.key].length !== 1) return false;
  return event.getModifierState('AltGraph') || !(event.ctrlKey || event.altKey);
}

/**
 * Whether a key press pastes. Ctrl+V is recognized by the letter of the key; on keyboards without Latin letters, by its
 * position.
 */
export function pastes(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.isComposing || event.altKey) return false;
  if (event.key === 'Insert') return event.shiftKey && !event.ctrlKey;
  const v = /^[a-z]$/i.test(event.key) ? event.key.toLowerCase() === 'v' : event.code === 'KeyV';
  return v && (onMac() ? event.metaKey : event.ctrlKey);
}

/** Whether pasted content has no other target: no field, menu or list of suggestions has the focus. */
export function takesNoPaste(target: EventTarget | null): boolean {
  return !isTyping(target) && !(target instanceof Element && target.closest('[role="menu"], [role="listbox"], [popover]'));
}

/** Whether the focused element takes no characters itself. Lists and menus use letters to search. */
export function takesNoText(target: EventTarget | null): boolean {
  return !isTyping(target) && !(target instanceof Element && target.closest('[role="tree"], [role="menu"], [role="listbox"], [popover]'));
}

/** Moves the focus to the end of the message, where the browser then inserts the character or what is pasted. */
export function focusMessage(): HTMLTextAreaElement | null {
  const field = document.querySelector<HTMLTextAreaElement>('[data-message-field]');
  field?.focus({ preventScroll: true });
  field?.setSelectionRange(field.value.length, field.value.length);
  return field;
}

/** Marks the message field until something is typed in it: Ctrl+Z still undoes the action that removed the focused element. */
function markUntouched(field: HTMLTextAreaElement | null): void {
  if (!field) return;
  field.dataset.untouched = '';
  field.addEventListener('input', () => delete field.dataset.untouched, { once: true });
}

/** Applies the second rule until the returned function is called. */
export function keepFocus(app: App): () => void {
  let last: Element | null = null;
  let frame = 0;
  const focused = (event: FocusEvent) => (last = event.target as Element | null);
  const isLost = () => last !== null && (document.activeElement ?? document.body) === document.body && (!last.isConnected || last.matches(':disabled'));
  // The code that removed the element may focus another one by the next frame.
  const settle = () => {
    frame = 0;
    if (!isLost()) return;
    last = null;
    if (isOverChat(app)) markUntouched(focusMessage());
  };
  const watch = new MutationObserver(() => {
    if (frame === 0 && isLost()) frame = requestAnimationFrame(() => (frame = requestAnimationFrame(settle)));
  });
  document.addEventListener('focusin', focused);
  watch.observe(document.body, { childList: true, subtree: true, attributes: true, attributeFilter: ['disabled'] });
  return () => {
    cancelAnimationFrame(frame);
    watch.disconnect();
    document.removeEventListener('focusin', focused);
  };
}
