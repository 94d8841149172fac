import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { program as de } from './de';
import { program as zh } from './zh-CN';

/** Go's tables of settings, as they are written. */
const tables = readdirSync('../backend/config')
  .filter((name) => name.endsWith('.go') && !name.endsWith('_test.go'))
  .map((name) => readFileSync(`../backend/config/${name}`, 'utf8'))
  .join('\n');
const all = (pattern: RegExp): string[] => [...new Set([...tables.matchAll(pattern)].map((match) => match[1]!))];
const keys = all(/\bname: "([a-z_]+(?:\.[a-z_]+)+)"/g);
const terms = [...all(/\bgroup\w+\s*= "([^"]+)"/g), ...all(/\bunit: "([^"]+)"/g)];
/** Choices that English descriptions also use as words of their own. */
const words = ['session', 'bundle'];
/** The choices of each setting that its description names. */
const choices = new Map([...tables.matchAll(/name: "([\w.]+)"[^}]*?choices:\s*\[\]string\{([^}]*)\}[^}]*?help:\s*((?:"(?:[^"\\]|\\.)*"[\s+]*)+)/g)].map(([, key, list, help]) => [key!, [...list!.matchAll(/"([^"]+)"/g)].map(([, one]) => one!).filter((one) => !words.includes(one) && new RegExp(`\\b${one}\\b`).test(help!))]));

describe.each([['de', de], ['zh-CN', zh]] as const)('the texts of the program in %s', (_, texts) => {
  it('are those of Go’s settings, all and no others', () => {
    expect(keys.length).toBeGreaterThan(90);
    expect(Object.keys(texts.settings).sort()).toEqual([...keys].sort());
    expect(Object.entries(texts.settings).filter(([, said]) => said.some((text) => text.trim() === ''))).toEqual([]);
  });

  it('have its groups and units', () => {
    expect(Object.keys(texts.terms).sort()).toEqual([...new Set(terms)].sort());
  });

  it('name the choices that the English descriptions name', () => {
    expect(choices.size).toBeGreaterThan(5);
    const settings: Record<string, readonly [string, string]> = texts.settings;
    expect([...choices].flatMap(([key, list]) => list.filter((choice) => !settings[key]![1].includes(choice)).map((choice) => `${key}: ${choice}`))).toEqual([]);
  });
});
