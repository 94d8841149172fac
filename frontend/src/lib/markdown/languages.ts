/** The usual names of languages, for the bar above a code block. */
const names: Record<string, string> = {
  bash: 'Shell', sh: 'Shell', shell: 'Shell', zsh: 'Shell', console: 'Shell', c: 'C', cpp: 'C++', 'c++': 'C++', cs: 'C#', csharp: 'C#', css: 'CSS',
  diff: 'Diff', dockerfile: 'Dockerfile', go: 'Go', golang: 'Go', graphql: 'GraphQL', html: 'HTML', ini: 'INI', java: 'Java', javascript: 'JavaScript',
  js: 'JavaScript', json: 'JSON', jsx: 'JSX', kotlin: 'Kotlin', kt: 'Kotlin', less: 'Less', lua: 'Lua', makefile: 'Makefile', markdown: 'Markdown',
  md: 'Markdown', mermaid: 'Mermaid', objectivec: 'Objective-C', perl: 'Perl', php: 'PHP', plaintext: 'Text', py: 'Python', python: 'Python', r: 'R', rb: 'Ruby', rs: 'Rust',
  ruby: 'Ruby', rust: 'Rust', scss: 'SCSS', sql: 'SQL', svelte: 'Svelte', svg: 'SVG', swift: 'Swift', text: 'Text', toml: 'TOML', ts: 'TypeScript', tsx: 'TSX',
  txt: 'Text', typescript: 'TypeScript', vb: 'Visual Basic', wasm: 'WebAssembly', xml: 'XML', yaml: 'YAML', yml: 'YAML', zig: 'Zig',
};

export function languageName(tag: string): string {
  return names[tag.toLowerCase()] ?? tag;
}

/** File name extensions that differ from the name of the language. */
const endings: Record<string, string> = {
  bash: 'sh', shell: 'sh', zsh: 'sh', console: 'txt', 'c++': 'cpp', csharp: 'cs', golang: 'go', javascript: 'js', kotlin: 'kt', markdown: 'md', objectivec: 'm',
  perl: 'pl', plaintext: 'txt', python: 'py', ruby: 'rb', rust: 'rs', text: 'txt', typescript: 'ts', vb: 'vb', yaml: 'yml', mermaid: 'mmd', dockerfile: 'dockerfile', makefile: 'mk',
};

/** The file name of a code block: the name given beside the language, or one made from the language. Never a path. */
export function fileNameOf(lang: string, file: string): string {
  const name = file.split(/[/\\]/).at(-1)!.replace(/[^\p{L}\p{N}._ -]/gu, '').replace(/^[. ]+/, '').trim().slice(0, 80);
  if (/\.[\p{L}\p{N}]+$/u.test(name)) return name;
  const tag = lang.toLowerCase();
  const ending = endings[tag] ?? (names[tag] !== undefined && /^[a-z0-9]{1,6}$/.test(tag) ? tag : 'txt');
  return `code.${ending}`;
}
