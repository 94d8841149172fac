import { expect, test } from 'vitest';
import { render } from './render';
import { tableAsCsv, tableAsMarkdown } from './tables';

function table(markdown: string): HTMLTableElement {
  const node = document.createElement('div');
  node.innerHTML = render(markdown).map(({ html }) => html).join('');
  return node.querySelector('table')!;
}

const source = `| Name | Amount | *Note* |
| --- | ---: | :---: |
| **Rye**, dark | 1.5 | \`a \\| b\` and $x^2$ |
| say "hi" | -2 | [site](https://example.org) one<br>two |`;

test('a table is copied as CSV: quotes, commas and line breaks are kept in their field', () => {
  expect(tableAsCsv(table(source))).toBe('Name,Amount,Note\r\n"Rye, dark",1.5,a | b and $x^2$\r\n"say ""hi""",-2,"site one\ntwo"\r\n');
});

test('a table is copied as the Markdown that draws the same table', () => {
  const copied = tableAsMarkdown(table(source));
  expect(copied).toBe(source);
  expect(table(copied).outerHTML).toBe(table(source).outerHTML);
});
