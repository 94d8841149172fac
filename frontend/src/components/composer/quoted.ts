/** A text as a quotation in Markdown, without empty lines at its ends. */
export function quoted(text: string): string {
  const lines = text.replace(/\r\n?/g, '\n').replace(/^(?:[^\S\n]*\n)+|\s+$/g, '').split('\n');
  return lines.map((line) => (line.trim() === '' ? '>' : `> ${line.trimEnd()}`)).join('\n');
}
