import { defineConfig } from '@playwright/test';
import { execSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { exhaustive, runsAll } from './harness/tier.ts';

// The system's Chromium, so that the tests download no browser.
const chromiumPath = execSync('command -v chromium || command -v chromium-browser || command -v google-chrome || true', { encoding: 'utf8' }).trim();
const launch = {
  executablePath: chromiumPath || '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  args: ['--no-sandbox', '--disable-gpu', '--force-color-profile=srgb'],
};
const chromiumOptions = {
  browserName: 'chromium',
  launchOptions: launch,
  viewport: { width: 1280, height: 800 },
  actionTimeout: 180_000,
  locale: 'en-GB',
  // Without transitions, so that no test sees the colours in between.
  contextOptions: { reducedMotion: 'reduce' },
  screenshot: 'only-on-failure',
  trace: 'on-first-retry', // tracing every test took a fifth of the suite's time; `--trace retain-on-failure` enables it manually
} as const;

// Two projects of one runner, so that both report in the same way: `browser` drives the dev build's page in Chromium,
// `window` drives the production program over WebDriver. Every test has its own program, home and provider.
export default defineConfig({
  // These limits only stop tests that hang: a test waits for what it needs, however slow the machine is. Each wait has
  // its own limit, so that of a whole test can be long.
  timeout: 600_000,
  expect: { timeout: 90_000, toPass: { timeout: 90_000 } },
  // A test that passes only on the second try shows an error in the test or in the program: `make test` lists it,
  // `make test-all` fails.
  retries: runsAll ? 0 : 1,
  ...(runsAll ? {} : { grepInvert: new RegExp(exhaustive.tag) }),
  workers: Math.max(3, availableParallelism()), // a test mostly waits for its page, so three can share two processors
  fullyParallel: true,
  forbidOnly: true,
  reporter: 'list',
  projects: [
    // Each project has its own output directory, because scripts/test runs two of them at the same time.
    { name: 'browser', testDir: 'browser', outputDir: 'results/browser', use: chromiumOptions },
    { name: 'window', testDir: 'window', outputDir: 'results/window' }, // each test has its own screen, session bus and driver
    // Not tests: `make screenshots` and `make screens`.
    { name: 'pictures', testDir: 'pictures', outputDir: 'results/pictures', use: { ...chromiumOptions, deviceScaleFactor: 2 } },
  ],
});
