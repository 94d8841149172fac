/** Describes the result of scanning a watched folder. */
import type { ProjectScanView } from '$lib/backend/types';
import { t, type PlainKey } from '$lib/i18n/i18n.svelte';
import { joinFacts } from '$shared/format';

type Counts = Pick<ProjectScanView, 'newCount' | 'changedCount' | 'removedCount'>;

export const differs = (scan: Counts): boolean => scan.newCount + scan.changedCount + scan.removedCount > 0;

/** "3 new, 1 changed, 2 removed". */
export function changeText(scan: Counts): string {
  const parts = joinFacts([
    scan.newCount > 0 && t('projects.countNew', { count: scan.newCount }),
    scan.changedCount > 0 && t('projects.countChanged', { count: scan.changedCount }),
    scan.removedCount > 0 && t('projects.countRemoved', { count: scan.removedCount }),
  ]);
  return parts || t('projects.nothingChanged');
}

export const skippedCount = (scan: Pick<ProjectScanView, 'skipped'>): number => scan.skipped.reduce((sum, { count }) => sum + count, 0);

/** Reasons, by the program's names. */
const reasons: Record<string, PlainKey> = {
  'hidden': 'projects.whyHidden',
  'may contain secrets': 'projects.whySecret',
  'a link': 'projects.whyLink',
  'ignored by .gitignore': 'projects.whyIgnored',
  'installed packages': 'projects.whyPackage',
  "this program's own data": 'projects.whyOwn',
  'not a file': 'projects.whySpecial',
  'empty': 'projects.whyEmpty',
  'larger than 20 MB': 'projects.whyLarge',
  'too deep in the folder': 'projects.whyDeep',
  'beyond the number of files of a project (2,000)': 'projects.whyMany',
  'beyond the 500 MB of a project': 'projects.whyBytes',
  'beyond the limit of 50,000 names': 'projects.whyEntries',
  'no readable text': 'projects.whyText',
  'cannot be read': 'projects.whyRead',
};

/** Why a file was skipped; an unknown reason is shown unchanged. */
export const reasonText = (reason: string): string => (reasons[reason] ? t(reasons[reason]) : reason);
