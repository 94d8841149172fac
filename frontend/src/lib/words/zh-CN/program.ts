import type { ProgramWords } from '../program';

export default { terms: {}, settings: {} } satisfies ProgramWords;
