import { expect, test } from 'vitest';
import { codeBlocks, isVersion, versionsOf, type Artifact } from './artifacts';

test.each([
  ['```go a.go\nx\n```', [{ info: 'go a.go', text: 'x' }]],
  ['````md\n```\nin\n```\n````\n~~~\ny\n~~~', [{ info: 'md', text: '```\nin\n```' }, { info: '', text: 'y' }]],
  ['- item\n  ```\n  two\n    more\n  ```', [{ info: '', text: 'two\n  more' }]],
  ['```open\nnever closed', []],
  ['no code', []],
])('reads the code blocks of %j', (text, blocks) => expect(codeBlocks(text)).toEqual(blocks));

const artifact = (seq: number, text: string, info = 'html'): Artifact => ({ turnId: `t${seq}`, seq, info, text });

test('versions have the same file name, or the same language and many lines in common', () => {
  expect(isVersion({ info: 'go a.go', text: 'x' }, { info: 'go a.go', text: 'y' })).toBe(true);
  expect(isVersion({ info: 'go a.go', text: 'x' }, { info: 'go b.go', text: 'x' })).toBe(false);
  expect(isVersion({ info: 'html', text: 'one\ntwo\nthree' }, { info: 'html', text: 'one\ntwo\nfour\nfive' })).toBe(true);
  expect(isVersion({ info: 'html', text: 'one\ntwo' }, { info: 'svg', text: 'one\ntwo' })).toBe(false);
  expect(isVersion({ info: 'go', text: '{\n}' }, { info: 'go', text: '{\n}' })).toBe(false); // lines without a word say nothing
});

test('versions change step by step along the branch, and others lie between them', () => {
  const all = [artifact(1, 'a\nb\nc'), artifact(2, 'x\ny'), artifact(3, 'b\nc\nd'), artifact(4, 'b\nc\nd'), artifact(5, 'd\nc\ne')];
  expect(versionsOf(all, all[0]!).map(({ seq }) => seq)).toEqual([1, 3, 5]);
  expect(versionsOf(all, all[4]!).map(({ seq }) => seq)).toEqual([1, 4, 5]);
  expect(versionsOf(all, all[1]!).map(({ seq }) => seq)).toEqual([2]);
  expect(versionsOf(all, artifact(9, 'gone'))).toEqual([artifact(9, 'gone')]);
});
