/** Numbers with their units. Spaces between them are narrow no-break spaces. */
export default {
  thousands: '{n}k',
  millions: '{n}M',
  bytes: '{n}\u202fB',
  kilobytes: '{n}\u202fkB',
  megabytes: '{n}\u202fMB',
  gigabytes: '{n}\u202fGB',
  milliseconds: '{n}\u202fms',
  seconds: '{n}\u202fs',
  minutes: '{minutes}\u202fmin {seconds}\u202fs',
  hours: '{hours} h {minutes} min',
  comma: ', ',
} as const;
