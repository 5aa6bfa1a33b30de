/** Something that happened at a time. */
export interface Timed {
  readonly time: number
}

export interface MergeOptions {
  /**
   * How many milliseconds something is held back for what others may still tell of before it. Without an end, all is in
   * order as long as each source is.
   */
  readonly window: number
  /** Milliseconds, from whenever on. */
  readonly now?: () => number
}

/** How much is taken from a source before it was asked for. */
const ahead = 1000

interface Held<T> {
  readonly item: T
  /** When it came. */
  readonly at: number
}

/** What has come of one source. */
export interface Line<T> {
  readonly held: readonly Held<T>[]
  /** Whether there may be more. */
  readonly open: boolean
}

export type Next = { readonly take: number } | { readonly wait: number } | { readonly ended: true }

/** What to do next: take the first of a line, wait for so many milliseconds or news, or end. */
export function nextOf<T extends Timed>(lines: readonly Line<T>[], now: number, window: number): Next {
  let first: { readonly index: number; readonly head: Held<T> } | undefined
  for (const [index, { held }] of lines.entries()) {
    const [head] = held
    if (head !== undefined && (first === undefined || head.item.time < first.head.item.time)) {
      first = { index, head }
    }
  }
  const someMayTell = lines.some(({ held, open }) => open && held.length === 0)
  if (first === undefined) return someMayTell ? { wait: Infinity } : { ended: true }
  if (!someMayTell) return { take: first.index }
  const wait = first.head.at + window - now
  return wait <= 0 ? { take: first.index } : { wait }
}

/**
 * All sources in one, by time; of the same time in the order of the sources. What a source tells out of order stays where
 * it is: nothing is lost.
 */
export async function* merged<T extends Timed>(
  sources: readonly AsyncIterable<T>[],
  { window, now = () => performance.now() }: MergeOptions,
): AsyncGenerator<T> {
  let news = (): void => undefined
  let isOver = false
  const lines = sources.map(() => ({ held: [] as Held<T>[], open: true, room: (): void => undefined }))
  const failures: unknown[] = []
  const read = async (source: AsyncIterable<T>, line: (typeof lines)[number]): Promise<void> => {
    try {
      for await (const item of source) {
        line.held.push({ item, at: now() })
        news()
        if (line.held.length >= ahead) await new Promise<void>((resolve) => (line.room = resolve))
        if (isOver) return
      }
    } catch (error) {
      failures.push(error)
    } finally {
      line.open = false
      news()
    }
  }
  try {
    for (const [index, line] of lines.entries()) void read(sources[index] ?? none(), line)
    for (;;) {
      if (failures.length > 0) throw failures[0]
      const next = nextOf(lines, now(), window)
      if ('ended' in next) return
      if ('wait' in next) await pause(next.wait, (wake) => (news = wake))
      else {
        const line = lines[next.take]
        const taken = line?.held.shift()
        line?.room()
        if (taken !== undefined) yield taken.item
      }
    }
  } finally {
    isOver = true
    for (const { room } of lines) room()
  }
}

/** Until somebody wakes us, or the time is over. */
async function pause(milliseconds: number, wakeable: (wake: () => void) => void): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = Number.isFinite(milliseconds) ? setTimeout(resolve, milliseconds) : undefined
    wakeable(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}

async function* none(): AsyncGenerator<never> {}
