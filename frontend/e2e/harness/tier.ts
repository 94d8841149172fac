/** Whether every test runs (`make test-all`), or what proves each feature (`make test`). */
export const runsAll = process.env['TEST_ALL'] === '1';

/** Tests with this option belong to `make test-all` only. */
export const exhaustive = { tag: '@exhaustive' };

/** The values that a test is repeated with; in `make test` only the first. */
export function variants<T>(...values: readonly T[]): readonly T[] {
  return runsAll ? values : values.slice(0, 1);
}
