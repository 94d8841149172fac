/** The check for a new version, in the general settings. */
export default {
  check: 'Check for a new version',
  checking: 'Checking…',
  newer: 'Version {version} is available.',
  current: 'This is the newest version, as of {when}.',
  unknown: 'The newest version is {version}. The version of this copy is not known.',
  noFeed: 'New versions are not checked for: no release feed is set above.',
  open: 'Open its page',
} as const;
