/** Splits text of any size into parts small enough to be laid out one by one. Joined, they are exactly the text. */
export function pieces(text: string, size = 4096): string[] {
  const result: string[] = [];
  for (let at = 0; at < text.length; ) {
    const end = pieceEnd(text, at, size);
    result.push(text.slice(at, end));
    at = end;
  }
  return result;
}

/** Prefers the end of a line, and never splits a surrogate pair. */
function pieceEnd(text: string, from: number, size: number): number {
  const limit = from + size;
  if (limit >= text.length) return text.length;
  const line = text.lastIndexOf('\n', limit - 1);
  if (line >= from + size / 2) return line + 1;
  const high = text.charCodeAt(limit - 1);
  return high >= 0xd800 && high <= 0xdbff ? limit - 1 : limit;
}

/**
 * Adds line breaks and indentation to JSON and keeps every token unchanged: parsing and printing it would lose digits
 * of numbers and duplicate keys. Undefined if the text is not one JSON object or array.
 */
export function indentJSON(text: string): string | undefined {
  const source = text.trim();
  if (!/^[[{]/.test(source) || !isJSON(source)) return undefined;
  const out: string[] = [];
  const tokens = /"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s[\]{},:"]+/g;
  let depth = 0;
  let previous = '';
  for (const [token] of source.matchAll(tokens)) {
    const closes = token === '}' || token === ']';
    if (closes) depth--;
    if (previous === '{' || previous === '[' ? !closes : closes || previous === ',') {
      out.push('\n', '  '.repeat(depth));
    }
    out.push(token === ':' ? ': ' : token);
    if (token === '{' || token === '[') depth++;
    previous = token;
  }
  return out.join('');
}

function isJSON(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
