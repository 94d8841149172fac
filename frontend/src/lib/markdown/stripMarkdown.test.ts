import { describe, expect, it } from 'vitest';
import { stripMarkdown } from './stripMarkdown';

describe('Markdown without its syntax', () => {
  it.each([
    ['', ''],
    ['**Bold** and *leaning* words', 'Bold and leaning words'],
    ['## A heading\ntext', 'A heading\ntext'],
    ['a # b, #3 and C#', 'a # b, #3 and C#'],
    ['> quoted\n> > twice', 'quoted\ntwice'],
    ['use `a**b**c` and `snake_case`', 'use a**b**c and snake_case'],
    ['2*3*4, 2**3 and a ** b', '2*3*4, 2**3 and a ** b'],
    ['snake_case_name and __init__', 'snake_case_name and __init__'],
    ['see [the page](https://x.y/z_(w)) now', 'see the page now'],
    ['before\n```go\na := **p\n# no heading\n```\n**after**', 'before\na := **p\n# no heading\nafter'],
    ['```\n**x** without an end', '**x** without an end'],
    ['| a | b |\n|---|:-:|\n| 1 | 2 |', 'a | b\n\n1 | 2'],
    ['**نص** و **שלום** 🙂', 'نص و שלום 🙂'],
  ])('%j', (text, expected) => expect(stripMarkdown(text)).toBe(expected));
});
