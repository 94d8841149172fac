import { describe, expect, it } from 'vitest';
import type { Setting } from '$lib/backend/types';
import { bounds, editedValue, shownValue, typedValue, unitOf } from './bounds';

const setting = (type: string, value: string, more: Partial<Setting> = {}) => ({ key: 'k', type, value, default: value, choices: [], min: 0, max: 0, unit: '', ...more }) as unknown as Setting;

describe('a share of the budget', () => {
  const share = setting('float', '0.8', { unit: 'share of the budget', min: 0.1, max: 1 });

  it('is shown and typed in percent, and stored as a share', () => {
    expect([editedValue(share), unitOf(share), shownValue(share, '0.8'), bounds(share)].map((text) => text.replace(/\s/g, ' '))).toEqual(['80', '% of the budget', '80 %', '10 % to 100 %']);
    expect(['85', '82.5 %', ' 7,5', 'much', ''].map((typed) => typedValue(share, typed))).toEqual(['0.85', '0.825', '0.075', 'much', '']);
    expect(typedValue(share, editedValue(share))).toBe(share.value);
  });
});

describe('a list', () => {
  const list = setting('list', '["read_file", "write_file"]');

  it('is edited one entry per line, and shown with commas', () => {
    expect(editedValue(list)).toBe('read_file\nwrite_file');
    expect(shownValue(list, list.value)).toBe('read_file, write_file');
    expect(shownValue(list, '[]')).toBe('none');
  });

  it('stays as it is in the file if nothing was changed', () => {
    expect(typedValue(list, editedValue(list))).toBe(list.value);
    expect(typedValue(list, 'read_file')).toBe('["read_file"]');
    expect(typedValue(list, '')).toBe('[]');
  });
});
