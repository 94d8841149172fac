import { defineConfig } from '@playwright/test';
import { execSync } from 'node:child_process';

// The system's Chromium: the tests download no browser.
const chromium = execSync('command -v chromium || command -v chromium-browser || command -v google-chrome || true', { encoding: 'utf8' }).trim();
const launch = {
  executablePath: chromium || '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  args: ['--no-sandbox', '--disable-gpu', '--force-color-profile=srgb'],
};
const chrome = {
  browserName: 'chromium',
  launchOptions: launch,
  viewport: { width: 1280, height: 800 },
  locale: 'en-GB',
  // A colour in the middle of a transition is not a colour of the window.
  contextOptions: { reducedMotion: 'reduce' },
  screenshot: 'only-on-failure',
  trace: 'on-first-retry', // to trace every test took a fifth of the suite's time; `--trace retain-on-failure` does it by hand
} as const;

// Two projects of one runner, so that both report and count alike: `browser` drives the dev build's page in Chromium,
// `window` the production program over WebDriver. Every test has a program, a home and a provider of its own.
export default defineConfig({
  outputDir: 'results/files',
  // Limits for what hangs, not measures of speed: a test waits for what it needs, however slow the machine.
  timeout: 300_000,
  expect: { timeout: 90_000 },
  // A test that only passes the second time is a fault to find, here or in the program. Where nobody watches it gets
  // its second time, and is counted and named as flaky.
  retries: process.env.CI ? 1 : 0,
  workers: 2,
  fullyParallel: true,
  forbidOnly: true,
  reporter: [['list'], ['json', { outputFile: 'results/report.json' }]],
  projects: [
    { name: 'browser', testDir: 'browser', use: chrome },
    { name: 'window', testDir: 'window' }, // each test has a screen, a session bus and a driver of its own
    // `make screenshots`: no tests.
    { name: 'pictures', testDir: 'pictures', use: { ...chrome, deviceScaleFactor: 2 } },
  ],
});
