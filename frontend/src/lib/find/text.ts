/**
 * Finds a text in a text: exactly as it is written, or as people search, ignoring case, accents, characters that are not
 * seen, and forms of letters that nobody tells apart. The rules are those of the program (backend/internal/lexical/fold.go);
 * backend/internal/highlight/testdata/forms.json tests both.
 */
import type { Span } from '$lib/backend/types';

/** A text in the form in which it is compared, and for each of its units where it is in the text itself. */
interface Folded {
  body: string;
  from: readonly number[];
  to: readonly number[];
}

const forms = new Map<string, string>();
for (const [from, to] of [
  ['أإآٱ', 'ا'], ['ىیېےئ', 'ي'], ['ؤ', 'و'], ['ةۀہۂھەۃ', 'ه'], ['ک', 'ك'], ['đð', 'd'], ['Đ', 'D'], ['ł', 'l'], ['Ł', 'L'], ['ø', 'o'], ['Ø', 'O'],
  ['ħ', 'h'], ['Ħ', 'H'], ['ı', 'i'], ['ё', 'е'], ['Ё', 'Е'], ['ς', 'σ'], ['‘’‚‛ʼʹ′', "'"], ['“”„‟″', '"'], ['‐‑', '-'],
  ['\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f', ' '],
] as const)
  for (const char of from) forms.set(char, to);
for (const digits of ['٠١٢٣٤٥٦٧٨٩', '۰۱۲۳۴۵۶۷۸۹', '⁰¹²³⁴⁵⁶⁷⁸⁹', '₀₁₂₃₄₅₆₇₈₉']) [...digits].forEach((char, value) => forms.set(char, String(value)));

const zeroWidthNonJoiner = '\u200c';
// eslint-disable-next-line no-misleading-character-class -- the marks are meant one by one
const ignored = /^[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\ufe00-\ufe0f\u{e0100}-\u{e01ef}\u{1f3fb}-\u{1f3ff}\u0640]$/u;
const unseenMark = /^(?=[\u0591-\u05c7\u0610-\u06ed\u08d3-\u08ff])\p{M}$/u;
const accent = /^[\u0300-\u036f]$/;
const sound = /^[\u3099\u309a]$/;
const wide = /^[\uff10-\uffdc]$/;
const accented = /^[\u00c0-\u024f\u0370-\u03ff\u1e00-\u1fff]$/;

/** A character of Chinese, Japanese or Korean, which has no other form. */
const isSimple = (char: string) => char >= '\u3400' && char < '\ud800';
const isIgnored = (char: string) => ignored.test(char) || unseenMark.test(char);
const oneWidth = (char: string) => (wide.test(char) && /^[\p{L}\p{N}]$/u.test(char) ? char.normalize('NFKC') : char);

/** A character without accents and case. Lower case that is longer ("İ") does not occur: its accent is removed first. */
function plain(char: string): string {
  if (isSimple(char)) return char;
  const form = forms.get(char) ?? char;
  const base = accented.test(form) ? form.normalize('NFD').charAt(0) : form;
  const lower = base.toUpperCase().toLowerCase();
  return forms.get(lower) ?? (lower.length === base.length ? lower : base.toLowerCase());
}

/** What is compared; positions in it lead to positions in the text. */
function folded(text: string): Folded {
  const from: number[] = [];
  const to: number[] = [];
  let body = '';
  let open: { char: string; at: number } | undefined; // the character to which marks may still be added
  const close = (end: number) => {
    if (!open) return;
    const char = plain(open.char);
    for (let i = 0; i < char.length; i++) {
      from.push(open.at);
      to.push(end);
    }
    body += char;
    open = undefined;
  };
  let at = 0;
  let leading: number | undefined; // where ignored characters at the beginning of the text began
  for (const raw of text) {
    if (isSimple(raw)) {
      close(at);
      open = { char: raw, at: leading ?? at };
      [leading, at] = [undefined, at + 1];
      continue;
    }
    const char = oneWidth(raw);
    const keeps = raw === zeroWidthNonJoiner && (!open || /\p{Script=Arabic}/u.test(open.char));
    if (isIgnored(raw) && !keeps) {
      if (!open) leading ??= at;
    } else if (open && ((accent.test(char) && /\p{L}/u.test(open.char)) || sound.test(char))) {
      const letters = [...(open.char + char).normalize('NFC')];
      if (letters.length === 1 || accent.test(char)) open.char = letters[0]!;
      else {
        close(at);
        open = { char, at };
      }
    } else {
      close(at);
      open = { char, at: leading ?? at };
      leading = undefined;
    }
    at += raw.length;
  }
  close(at);
  return { body, from, to };
}

const isPlain = (text: string) => !/[^\x00-\x7f]/.test(text);
const comparable = (text: string): Folded => (isPlain(text) ? { body: text.toLowerCase(), from: [], to: [] } : folded(text));

/** The positions of any of the terms, in order and without overlaps; at most `limit` positions. */
export function occurrences(text: string, terms: readonly string[], matchCase: boolean, limit = Infinity): Span[] {
  const needles = terms
    .filter((term) => term.trim() !== '')
    .map((term) => (matchCase ? term : comparable(term).body))
    .filter((needle) => needle !== '');
  const { body, from, to } = matchCase ? { body: text, from: [], to: [] } : comparable(text);
  // The next position of each term, searched again only after it was passed.
  const next = needles.map((needle) => body.indexOf(needle));
  const found: Span[] = [];
  for (let at = 0; found.length < limit; ) {
    let best = -1;
    for (let i = 0; i < needles.length; i++) {
      if (next[i]! >= 0 && next[i]! < at) next[i] = body.indexOf(needles[i]!, at);
      const [here, there] = [next[i]!, best < 0 ? Infinity : next[best]!];
      if (here >= 0 && (here < there || (here === there && needles[i]!.length > needles[best]!.length))) best = i;
    }
    if (best < 0) return found;
    const [start, end] = [next[best]!, next[best]! + needles[best]!.length];
    found.push({ from: from[start] ?? start, to: to[end - 1] ?? end });
    at = end;
  }
  return found;
}
