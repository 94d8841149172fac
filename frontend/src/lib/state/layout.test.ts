import { beforeEach, describe, expect, it } from 'vitest';
import { LayoutState } from './layout.svelte';

beforeEach(() => localStorage.clear());

describe('the columns', () => {
  it('remember widths within their bounds, and which are collapsed', () => {
    const layout = new LayoutState(localStorage);
    layout.resize('sessions', 500);
    layout.resize('inspector', 1);
    layout.hide('inspector');
    const restored = new LayoutState(localStorage);
    expect([restored.width('sessions'), restored.width('inspector'), restored.isOpen('inspector'), restored.isOpen('sessions')]).toEqual([26, 20, false, true]);
  });

  it('begin with the inspector closed, and later as they were left', () => {
    const layout = new LayoutState(localStorage);
    expect([layout.isOpen('sessions'), layout.isOpen('inspector')]).toEqual([true, false]);
    layout.reveal('inspector');
    expect(new LayoutState(localStorage).isOpen('inspector')).toBe(true);
    localStorage.setItem('contextinfinity.layout', '{"collapsed":{"inspector":"no"}}');
    expect(new LayoutState(localStorage).isOpen('inspector')).toBe(false);
  });

  it.each(['not json', '{"widths":{"sessions":"wide"}}', 'null', '{"widths":null}'])('use the defaults for %s', (saved) => {
    localStorage.setItem('contextinfinity.layout', saved);
    expect(new LayoutState(localStorage).width('sessions')).toBe(14.5);
  });

  it('become drawers one at a time if there is no space', () => {
    const layout = new LayoutState(localStorage);
    layout.measured(56);
    expect([layout.isOpen('sessions'), layout.isOpen('inspector')]).toEqual([false, false]);
    layout.toggle('sessions');
    layout.toggle('inspector');
    expect([layout.isOpen('sessions'), layout.isOpen('inspector')]).toEqual([false, true]);
    expect([layout.closeDrawer(), layout.closeDrawer()]).toEqual([true, false]);
    layout.measured(80);
    expect([layout.isOpen('sessions'), layout.isOpen('inspector')]).toEqual([true, false]);
  });
});

describe('the area at the right of the conversation', () => {
  it('has its own width, none as a drawer, and enough for search results', () => {
    const layout = new LayoutState(localStorage);
    layout.measured(100);
    layout.reveal('inspector');
    layout.resize('inspector', 21);
    expect(layout.rightRem).toBe(21);
    layout.openPanel('search');
    expect(layout.rightRem).toBe(26);
    layout.closePanel();
    layout.hide('inspector');
    expect(layout.rightRem).toBe(0);
    layout.measured(56);
    layout.reveal('inspector');
    expect(layout.rightRem).toBe(0);
  });
});
