import { defineConfig } from '@playwright/test';

// Two projects of one runner, so that both report and count alike: `browser` drives the dev build's page in Chromium,
// `window` the production program over WebDriver. Every test has a program, a home and a provider of its own.
export default defineConfig({
  outputDir: 'results/files',
  timeout: 60_000,
  expect: { timeout: 10_000 },
  // A test that only passes the second time is a fault to find, here or in the program.
  retries: 0,
  workers: 2,
  fullyParallel: true,
  forbidOnly: true,
  reporter: [['list'], ['json', { outputFile: 'results/report.json' }]],
  projects: [
    { name: 'browser', testDir: 'browser' },
    { name: 'window', testDir: 'window', workers: 1 },
  ],
});
