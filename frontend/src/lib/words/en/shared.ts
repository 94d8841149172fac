export default {
  cancel: 'Cancel',
  close: 'Close',
  copy: 'Copy',
  copied: 'Copied',
  notCopied: 'Not copied: select and press Ctrl+C',
  dismiss: 'Dismiss',
  loading: '{what}: loading',
  notices: 'Notices',
  remove: 'Remove',
  showMore: 'Show more',
  charactersLeft: '{count, number} characters left',
  tryAgain: 'Try again',
} as const;
