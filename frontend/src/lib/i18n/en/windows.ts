/** Several windows on the same data. */
export default {
  open: 'Open in a new window',
} as const;
