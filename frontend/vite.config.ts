import { svelte } from '@sveltejs/vite-plugin-svelte';
import { svelteTesting } from '@testing-library/svelte/vite';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

/** KaTeX names each font in three formats; every engine this runs on takes the first. */
function woff2Only(): Plugin {
  return {
    name: 'woff2-only',
    enforce: 'pre',
    transform: (code, id) => (/katex.*\.css/.test(id) ? code.replace(/,url\([^)]+\.(?:woff|ttf)\) ?format\([^)]+\)/g, '') : undefined),
  };
}

export default defineConfig({
  plugins: [woff2Only(), svelte(), svelteTesting()],
  resolve: {
    dedupe: ['katex', 'dompurify', 'marked'], // Mermaid brings its own of each
    alias: { $lib: path('./src/lib'), $shared: path('./src/components/shared') },
  },
  server: { watch: { ignored: ['**/e2e/**', '**/dist/**'] } },
  build: {
    target: 'es2022', // WebKitGTK 2.40 and WebView2, the oldest engines the program runs on
    outDir: 'dist',
    assetsInlineLimit: 0, // the content security policy takes fonts from files only
    emptyOutDir: true, // public/gitkeep is copied back, so the directory is never empty for go:embed
    chunkSizeWarningLimit: 400,
    // The page's files are in the program: to load them ahead saves nothing. WebKit warns of each that is not used soon.
    modulePreload: false,
  },
  test: {
    environment: 'jsdom',
    experimental: { fsModuleCache: true }, // compiled modules are kept by their contents: a quarter of the suite's time
    include: ['src/**/*.test.ts'],
    setupFiles: ['src/test/setup.ts'],
    // A process runs its files in one set of modules: to load the page again for each file took more than half of the suite's
    // time. A file that changes what a module keeps (the language) puts it back; `--sequence.shuffle.files` looks for those
    // that do not.
    isolate: false,
    testTimeout: 60_000, // a limit for what hangs, not a measure of speed
    hookTimeout: 60_000,
  },
});
