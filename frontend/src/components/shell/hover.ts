/** What looks different under the pointer. */
const hovered = 'button:hover, a:hover, [draggable="true"]:hover';

/**
 * After a drag, WebKitGTK leaves :hover on an element that the pointer was not over, until the pointer passes over it.
 * Taking such an element out of the page and back clears that. Other engines are left alone: there, a label's control is
 * :hover too. Works until the returned function is called.
 */
export function clearHoverAfterDrags(): () => void {
  if (!/Linux.*AppleWebKit/.test(navigator.userAgent) || /Chrom/.test(navigator.userAgent)) return () => undefined;
  const clear = (event: Event) => {
    const under = new Set(event.composedPath());
    for (const element of document.querySelectorAll(hovered)) {
      if (under.has(element) || element.contains(document.activeElement)) continue;
      element.parentNode?.insertBefore(element, element.nextSibling);
    }
  };
  const stop = () => document.removeEventListener('pointermove', clear);
  // The pointer does not move during a drag, as far as the page can tell.
  const drag = () => document.addEventListener('pointermove', clear);
  document.addEventListener('dragstart', drag);
  document.addEventListener('pointerdown', stop);
  return () => {
    stop();
    document.removeEventListener('dragstart', drag);
    document.removeEventListener('pointerdown', stop);
  };
}
