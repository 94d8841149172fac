import { closeSync, openSync, readFileSync, readSync } from 'node:fs';

const chunk = Buffer.alloc(16 << 20);
const entries = Buffer.alloc(8 << 17);
const page = 4096;

/** Which of these are in the memory of a process: texts as UTF-8 or UTF-16, and bytes. Nothing is in that of an ended one. */
export function foundInMemory(pid: number, sought: Record<string, string | Buffer>): string[] {
  try {
    return found(pid, sought);
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return []; // it has ended in between
    throw error;
  }
}

function found(pid: number, sought: Record<string, string | Buffer>): string[] {
  const wanted = Object.entries(sought).flatMap(([name, what]) =>
    (typeof what === 'string' ? [Buffer.from(what), Buffer.from(what, 'utf16le')] : [what]).map((bytes) => ({ name, bytes })));
  const overlap = Math.max(...wanted.map(({ bytes }) => bytes.length));
  const names = new Set<string>();
  if (readFileSync(`/proc/${pid}/cmdline`, 'latin1') === '') return [];
  const memory = openSync(`/proc/${pid}/mem`, 'r');
  try {
    for (const [start, end] of used(pid)) {
      for (let at = start; at < end; ) {
        const length = Math.min(chunk.length, end - at);
        const part = chunk.subarray(0, read(memory, chunk.subarray(0, length), at));
        for (const { name, bytes } of wanted) if (part.includes(bytes)) names.add(name);
        const stopped = at + part.length;
        if (part.length < length) at = (Math.floor(stopped / page) + 1) * page; // behind the page that cannot be read
        else at = stopped < end ? stopped - overlap : end;
      }
    }
  } finally {
    closeSync(memory);
  }
  return [...names].sort();
}

/** The ranges of memory that can be read and that are in use: much more is only reserved. */
function used(pid: number): [number, number][] {
  const ranges: [number, number][] = [];
  const maps = readFileSync(`/proc/${pid}/smaps`, 'latin1');
  const pages = openSync(`/proc/${pid}/pagemap`, 'r');
  for (const map of maps.split(/\n(?=[0-9a-f]+-)/)) {
    const [, from, to] = /^([0-9a-f]+)-([0-9a-f]+) r/.exec(map) ?? [];
    if (!from || !to || !/^(Rss|Swap): +[1-9]/m.test(map)) continue;
    const end = parseInt(to, 16);
    let begun = 0;
    for (let at = parseInt(from, 16); at < end; ) {
      const wanted = Math.min(entries.length, ((end - at) / page) * 8);
      const count = read(pages, entries.subarray(0, wanted), (at / page) * 8) / 8;
      if (count === 0) break;
      for (let i = 0; i < count; i++, at += page) {
        const inUse = (entries[8 * i + 7]! & 0xc0) !== 0; // present, or swapped out
        if (inUse && begun === 0) begun = at;
        if (!inUse && begun !== 0) {
          ranges.push([begun, at]);
          begun = 0;
        }
      }
    }
    if (begun !== 0) ranges.push([begun, end]);
  }
  closeSync(pages);
  return ranges;
}

/** Reads until `into` is full or nothing more can be read: memory of a device, or unmapped in between. Returns how much was read. */
function read(file: number, into: Buffer, at: number): number {
  let count = 0;
  try {
    while (count < into.length) {
      const more = readSync(file, into, count, into.length - count, at + count);
      if (more === 0) break;
      count += more;
    }
  } catch {
    // what was read before counts
  }
  return count;
}
