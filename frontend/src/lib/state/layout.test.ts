import { beforeEach, describe, expect, it } from 'vitest';
import { LayoutState } from './layout.svelte';

beforeEach(() => localStorage.clear());

describe('the columns', () => {
  it('remember widths within their bounds, and what is collapsed', () => {
    const layout = new LayoutState(localStorage);
    layout.resize('sessions', 500);
    layout.resize('inspector', 1);
    layout.hide('inspector');
    const again = new LayoutState(localStorage);
    expect([again.width('sessions'), again.width('inspector'), again.isOpen('inspector'), again.isOpen('sessions')]).toEqual([26, 20, false, true]);
  });

  it('begin with the inspector closed, and as they were left afterwards', () => {
    const layout = new LayoutState(localStorage);
    expect([layout.isOpen('sessions'), layout.isOpen('inspector')]).toEqual([true, false]);
    layout.reveal('inspector');
    expect(new LayoutState(localStorage).isOpen('inspector')).toBe(true);
    localStorage.setItem('contextinfinity.layout', '{"collapsed":{"inspector":"no"}}');
    expect(new LayoutState(localStorage).isOpen('inspector')).toBe(false);
  });

  it.each(['not json', '{"widths":{"sessions":"wide"}}', 'null', '{"widths":null}'])('start as new from %s', (saved) => {
    localStorage.setItem('contextinfinity.layout', saved);
    expect(new LayoutState(localStorage).width('sessions')).toBe(14.5);
  });

  it('become drawers one at a time where there is no room', () => {
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

describe('what stands at the right of the conversation', () => {
  it('takes its own width, none as a drawer, and enough for the lines of a search', () => {
    const layout = new LayoutState(localStorage);
    layout.measured(100);
    layout.reveal('inspector');
    layout.resize('inspector', 21);
    expect(layout.rightRem).toBe(21);
    layout.openSearch();
    expect(layout.rightRem).toBe(26);
    layout.closeSearch();
    layout.hide('inspector');
    expect(layout.rightRem).toBe(0);
    layout.measured(56);
    layout.reveal('inspector');
    expect(layout.rightRem).toBe(0);
  });
});
