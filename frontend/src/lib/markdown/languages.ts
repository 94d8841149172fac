/** How languages call themselves, for the bar above a code block. */
const names: Record<string, string> = {
  bash: 'Shell', sh: 'Shell', shell: 'Shell', zsh: 'Shell', console: 'Shell', c: 'C', cpp: 'C++', 'c++': 'C++', cs: 'C#', csharp: 'C#', css: 'CSS',
  diff: 'Diff', dockerfile: 'Dockerfile', go: 'Go', golang: 'Go', graphql: 'GraphQL', html: 'HTML', ini: 'INI', java: 'Java', javascript: 'JavaScript',
  js: 'JavaScript', json: 'JSON', jsx: 'JSX', kotlin: 'Kotlin', kt: 'Kotlin', less: 'Less', lua: 'Lua', makefile: 'Makefile', markdown: 'Markdown',
  md: 'Markdown', objectivec: 'Objective-C', perl: 'Perl', php: 'PHP', plaintext: 'Text', py: 'Python', python: 'Python', r: 'R', rb: 'Ruby', rs: 'Rust',
  ruby: 'Ruby', rust: 'Rust', scss: 'SCSS', sql: 'SQL', svelte: 'Svelte', swift: 'Swift', text: 'Text', toml: 'TOML', ts: 'TypeScript', tsx: 'TSX',
  txt: 'Text', typescript: 'TypeScript', vb: 'Visual Basic', wasm: 'WebAssembly', xml: 'XML', yaml: 'YAML', yml: 'YAML', zig: 'Zig',
};

export function languageName(tag: string): string {
  return names[tag.toLowerCase()] ?? tag;
}
