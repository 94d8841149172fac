import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { listFields, withEmptyLists } from './lists';

type Shapes = Record<string, Record<string, string>>;

/** The Go declarations, as the TypeScript they should be. */
function goShapes(source: string): Shapes {
  const shapes: Shapes = {};
  for (const [, name, body] of source.matchAll(/type (\w+) struct \{\n([\s\S]*?)\n\}/g)) {
    shapes[name!] = Object.fromEntries([...body!.matchAll(/^\s*\w+\s+(\S+)\s+`json:"(\w+)"`/gm)].map(([, type, field]) => [field!, goType(type!)]));
  }
  return shapes;
}

function goType(type: string): string {
  if (type.startsWith('[]')) return `${goType(type.slice(2))}[]`;
  if (type.startsWith('*')) return `${goType(type.slice(1))} | null`;
  if (/^(int|int64|float64)$/.test(type)) return 'number';
  return type === 'bool' ? 'boolean' : type;
}

function tsShapes(source: string): Shapes {
  const shapes: Shapes = {};
  for (const [, name, body] of source.matchAll(/export interface (\w+) \{\n([\s\S]*?)\n\}/g)) {
    shapes[name!] = Object.fromEntries([...body!.matchAll(/^\s*(\w+): (.+);$/gm)].map(([, field, type]) => [field!, type!.replace('ChangeKind', 'string')]));
  }
  return shapes;
}

const shapeFiles = (directory: string, names: string[]) => names.map((name) => readFileSync(`${directory}/${name}`, 'utf8')).join('\n');
/** The parts that the shapes are divided into: dto_NAME.go, and types_NAME.ts. */
const parts = [
  'branches',
  'context',
  'embedders',
  'library',
  'mcp',
  'memory',
  'programs',
  'projects',
  'search',
  'settings',
  'storage',
  'tools',
  'transfer',
  'work',
];

const ts = tsShapes(shapeFiles('src/lib/backend', ['types.ts', ...parts.map((part) => `types_${part}.ts`)]));

/** Methods of a service as `name/parameters`, from the bindings the program generated and from our interface. */
function methodsOf(source: string, pattern: RegExp): string[] {
  return [...source.matchAll(pattern)].map(([, name, parameters]) => `${name!.toLowerCase()}/${parameters!.trim() === '' ? 0 : parameters!.split(',').length}`).sort();
}

function interfaceOf(service: string): string {
  return new RegExp(`export interface ${service}Service \\{\\n([\\s\\S]*?)\\n\\}`).exec(readFileSync('src/lib/backend/backend.ts', 'utf8'))?.[1] ?? '';
}

describe('services', () => {
  it.each([
    'Sessions',
    'Chat',
    'Inspect',
    'Settings',
    'Memory',
    'Embedders',
    'Programs',
    'Library',
    'Projects',
    'Branches',
    'Search',
    'Work',
    'Transfer',
    'Storage',
    'Tools',
    'Servers',
  ])('%s offers what the program binds, and nothing else', (service) => {
    const bound = methodsOf(readFileSync(`wailsjs/go/api/${service}.d.ts`, 'utf8'), /export function (\w+)\((.*?)\):/g);
    expect(bound.length).toBeGreaterThan(2);
    expect(methodsOf(interfaceOf(service), /^  (\w+)\((.*?)\): Promise/gm)).toEqual(bound);
  });
});

describe('types', () => {
  it('mirror the shapes the program returns', () => {
    const go = goShapes(shapeFiles('../backend/api', ['dto.go', ...parts.map((part) => `dto_${part}.go`)]));
    expect(Object.keys(go).length).toBeGreaterThan(20);
    expect(ts).toEqual(go);
  });

  it('name every list field, so that none is ever null', () => {
    const lists = Object.values(ts).flatMap((shape) => Object.entries(shape).filter(([, type]) => type.endsWith('[]')).map(([field]) => field));
    expect([...listFields].sort()).toEqual([...new Set(lists)].sort());
  });

  it('turns null lists into empty ones and leaves other nulls alone', () => {
    expect(withEmptyLists({ turns: null, error: null, header: { items: null } })).toEqual({ turns: [], error: null, header: { items: [] } });
  });
});
