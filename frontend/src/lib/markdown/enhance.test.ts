import { beforeEach, expect, test, vi } from 'vitest';
import { enhance } from './enhance';
import { render } from './render';

/** The attachment needs the drawing module, which it loads when it meets the first formula. */
beforeEach(async () => {
  drawn('$x$');
  await import('katex');
  await import('katex/dist/katex.min.css');
  await new Promise((resolve) => setTimeout(resolve));
});

function drawn(text: string): HTMLElement {
  const node = document.createElement('div');
  for (const block of render(text)) {
    const element = document.createElement('div');
    element.innerHTML = block.html;
    node.append(element);
    enhance(block.html)(element);
  }
  return node;
}

test('a formula that the drawing module cannot take stays as its source, and the blocks around it are drawn', () => {
  vi.spyOn(performance, 'now').mockReturnValue(1e9); // there is time for all three, however busy the machine is
  const deep = '{'.repeat(2_990);
  const node = drawn(`Before $x^2$.\n\n$$\n${deep}\n$$\n\nAfter $y^2$.`);
  expect(node.querySelectorAll('.katex')).toHaveLength(2);
  expect(node.textContent).toContain(deep);
  expect(node.textContent).toContain('After');
});
