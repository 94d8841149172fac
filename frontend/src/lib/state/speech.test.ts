import { afterEach, describe, expect, test, vi } from 'vitest';
import { SpeechState, spokenPieces } from './speech.svelte';

class Utterance {
  onstart: (() => void) | null = null;
  onend: (() => void) | null = null;
  onerror: ((event: { error: string }) => void) | null = null;
  constructor(readonly text: string) {}
}

function engine(voices: number) {
  const spoken: Utterance[] = [];
  const listeners: (() => void)[] = [];
  const synthesis = { voices, spoken, getVoices: () => Array(synthesis.voices).fill({}), speak: (utterance: Utterance) => void spoken.push(utterance), cancel: vi.fn(), addEventListener: (_: string, listener: () => void) => void listeners.push(listener), removeEventListener: vi.fn(), changed: () => listeners.forEach((listener) => listener()) };
  vi.stubGlobal('speechSynthesis', synthesis);
  vi.stubGlobal('SpeechSynthesisUtterance', Utterance);
  return synthesis;
}

afterEach(() => vi.unstubAllGlobals());

describe('reading aloud', () => {
  test('is offered if there is a voice, even if it appears late', () => {
    expect(new SpeechState({ show: vi.fn() }).available).toBe(false); // no engine
    const voice = engine(0);
    const speech = new SpeechState({ show: vi.fn() });
    expect(speech.available).toBe(false);
    voice.voices = 2;
    voice.changed();
    expect(speech.available).toBe(true);
  });

  test('reads part by part, and ends with the last or on request', () => {
    const voice = engine(1);
    const speech = new SpeechState({ show: vi.fn() });
    speech.toggle('t1', 'One.\n\nTwo.');
    voice.spoken[0]!.onend!();
    expect([voice.spoken.map(({ text }) => text), speech.reading]).toEqual([['One.', 'Two.'], 't1']);
    voice.spoken[1]!.onend!();
    expect(speech.reading).toBe('');
    speech.toggle('t2', 'Three.\n\nFour.');
    speech.toggle('t2', 'Three.\n\nFour.');
    voice.spoken[2]!.onend!(); // engines also report the end of a cancelled utterance
    expect([voice.spoken.length, speech.reading]).toEqual([3, '']);
  });

  test('reports when the voice fails, and when there is nothing to read', () => {
    const voice = engine(1);
    const show = vi.fn();
    const speech = new SpeechState({ show });
    speech.toggle('t1', '```\ncode\n```');
    expect(voice.spoken).toEqual([]);
    speech.toggle('t1', 'Words.');
    voice.spoken[0]!.onerror!({ error: 'synthesis-failed' });
    expect([show.mock.calls.length, speech.reading]).toEqual([2, '']);
  });
});

test('a voice that never begins is reported, one that began may take its time', () => {
  vi.useFakeTimers();
  try {
    const voice = engine(1);
    const show = vi.fn();
    const speech = new SpeechState({ show });
    speech.toggle('t1', 'Words.');
    voice.spoken[0]!.onstart!();
    vi.advanceTimersByTime(60_000);
    expect([show.mock.calls.length, speech.reading]).toEqual([0, 't1']);
    speech.toggle('t2', 'Words.');
    vi.advanceTimersByTime(60_000);
    expect([show.mock.calls.length, speech.reading]).toEqual([1, '']);
  } finally {
    vi.useRealTimers();
  }
});

describe('the spoken text', () => {
  test.each([
    ['# Title\n\nSome **bold** words[^1].\n\n[^1]: A note.', ['Title', 'Some bold words.', 'A note.']],
    ['Before.\n```go\nx := 1\n```\nAfter \\(a^2\\) it: https://example.com/a.', ['Before.', 'After it:']],
    ['| a | b |\n|---|---|\n| 1 | 2 |', ['a b', '1 2']],
  ])('%j', (text, pieces) => expect(spokenPieces(text).map((piece) => piece.replace(/ +/g, ' '))).toEqual(pieces));

  test('is split into parts that engines do not cut off, and limited in number', () => {
    expect(Math.max(...spokenPieces('word '.repeat(10_000)).map((piece) => piece.length))).toBeLessThanOrEqual(300);
    expect(spokenPieces('A. '.repeat(10) + 'x'.repeat(2_000)).join('').length).toBeGreaterThan(2_000);
    expect(spokenPieces('x\n'.repeat(5_000))).toHaveLength(2_000);
  });
});
