import { svelte } from '@sveltejs/vite-plugin-svelte';
import { svelteTesting } from '@testing-library/svelte/vite';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

/** KaTeX lists three formats of each font; all supported engines use the first. */
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
    dedupe: ['katex', 'dompurify', 'marked'], // Mermaid would add its own copy of each
    alias: { $lib: path('./src/lib'), $shared: path('./src/components/shared') },
  },
  server: { watch: { ignored: ['**/e2e/**', '**/dist/**'] } },
  build: {
    target: 'es2022', // WebKitGTK 2.40 and WebView2, the oldest supported engines
    outDir: 'dist',
    assetsInlineLimit: 0, // the content security policy allows fonts only from files
    emptyOutDir: true, // public/gitkeep is copied back, so the directory is never empty for go:embed
    chunkSizeWarningLimit: 400,
    // The files are part of the program, so preloading saves nothing, and WebKit warns about each preloaded file that
    // is not used soon.
    modulePreload: false,
  },
  test: {
    environment: 'jsdom',
    experimental: { fsModuleCache: true }, // caches compiled modules by content, which saves a quarter of the suite's time
    include: ['src/**/*.test.ts'],
    setupFiles: ['src/test/setup.ts'],
    // All test files of a process share one set of modules: loading them again for each file took more than half of
    // the suite's time. A file that changes the state of a module (such as the language) must restore it;
    // `--sequence.shuffle.files` finds those that do not.
    isolate: false,
    maxWorkers: availableParallelism(), // by default one processor is left out: of two, half
    testTimeout: 60_000, // only stops tests that hang; not a measure of speed
    hookTimeout: 60_000,
  },
});
