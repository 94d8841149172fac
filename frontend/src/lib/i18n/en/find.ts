export default {
  endAt: 'The end is at 100 %',
  noDay: 'There is no such day',
  holds: 'This branch has turns #{first} to #{last}',
  whatGoal: 'A number, a percentage or a day: #1200, 40 %, 18 November, 2026-11-18, yesterday',
  today: 'today',
  yesterday: 'yesterday',
} as const;
