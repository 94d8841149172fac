import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { announcePage, answerClose, reportToProgram } from './window';

type Sent = [name: string, ...data: unknown[]];

describe('what the page reports to the window', () => {
  let sent: Sent[];
  let stop: () => void;
  let listeners: ((data: unknown) => void)[];
  const confirm = (id: unknown) => listeners.forEach((listener) => listener(id));
  const runtime = { EventsEmit: (...event: Sent) => sent.push(event), EventsOn: (_: string, listener: (data: unknown) => void) => listeners.push(listener), CanResolveFilePaths: () => false, OnFileDrop: vi.fn() };
  const drag = (type: string, types: string[], x = 0, y = 0) => {
    const event = new MouseEvent(type, { bubbles: true, clientX: x, clientY: y });
    Object.defineProperty(event, 'dataTransfer', { value: { types } });
    document.body.dispatchEvent(event);
  };
  const drops = () => sent.filter(([name]) => name === 'ci:drop');

  beforeEach(() => {
    sent = [];
    listeners = [];
    vi.stubGlobal('runtime', runtime);
    stop = reportToProgram();
  });
  afterEach(() => {
    stop();
    vi.unstubAllGlobals();
  });

  it('whether it has the focus, at once and on changes', () => {
    const hasFocus = vi.spyOn(document, 'hasFocus').mockReturnValue(false);
    window.dispatchEvent(new Event('blur'));
    hasFocus.mockReturnValue(true);
    window.dispatchEvent(new Event('focus'));
    hasFocus.mockRestore();
    const focus = sent.filter(([name]) => name === 'ci:focus');
    expect(focus.slice(1).map(([, value]) => value)).toEqual([false, true]);
  });

  it('announces itself until the program confirms it, and reports when it unloads', async () => {
    vi.useFakeTimers();
    sent = [];
    let started = false;
    void announcePage().then(() => (started = true));
    await vi.advanceTimersByTimeAsync(250); // the program's window does not exist yet and receives nothing
    const [[name, id, listens]] = sent as [[string, string, boolean]];
    expect([name, listens, sent.length, started]).toEqual(['ci:page', true, 3, false]);
    confirm('of another page');
    await vi.advanceTimersByTimeAsync(50);
    expect(started).toBe(false);
    confirm(id);
    await vi.advanceTimersByTimeAsync(500);
    expect([started, sent.length]).toEqual([true, 4]);
    window.dispatchEvent(new Event('pagehide'));
    expect(sent.at(-1)).toEqual(['ci:page', id, false]);
    vi.useRealTimers();
  });

  it('starts anyway if no program ever confirms it', async () => {
    vi.useFakeTimers();
    let started = false;
    void announcePage().then(() => (started = true));
    await vi.advanceTimersByTimeAsync(10_000);
    expect(started).toBe(true);
    vi.useRealTimers();
  });

  it('replies whether the window is to close', () => {
    answerClose(true);
    expect(sent.at(-1)).toEqual(['ci:close', true]);
  });

  it('reports where files were dropped, and that text is not files', () => {
    drag('drop', ['Files'], 120.4, 80);
    drag('drop', ['text/uri-list', 'text/html'], 5, 6);
    drag('drop', ['text/plain']);
    expect(drops()).toEqual([['ci:drop', true, 120, 80], ['ci:drop', true, 5, 6], ['ci:drop', false, 0, 0]]);
  });

  it('ignores its own drag until it ends', () => {
    drag('dragstart', []);
    drag('drop', ['Files']);
    drag('dragend', []);
    drag('drop', ['Files']);
    expect(drops().map(([, files]) => files)).toEqual([false, true]);
  });

  it('asks only WebView2 for paths', () => {
    expect(runtime.OnFileDrop).not.toHaveBeenCalled();
    vi.stubGlobal('runtime', { ...runtime, CanResolveFilePaths: () => true });
    reportToProgram()();
    expect(runtime.OnFileDrop).toHaveBeenCalledOnce();
  });

  it('stops reporting', () => {
    stop();
    drag('drop', ['Files']);
    expect(drops()).toEqual([]);
  });

  it('does nothing outside the program', () => {
    vi.stubGlobal('runtime', undefined);
    expect(() => reportToProgram()()).not.toThrow();
    return announcePage();
  });
});
