/** An item with a timestamp. */
export interface Timed {
  readonly time: number
}

export interface MergeOptions {
  /**
   * Milliseconds for which an item is held back, in case another source still emits an earlier one. With
   * Infinity the output is sorted, if each source is sorted.
   */
  readonly windowMs: number
  /** Monotonic clock in milliseconds, from any starting point. */
  readonly now?: () => number
}

/** Maximum number of items buffered for one source. */
const maxBuffered = 1000

interface BufferedItem<T> {
  readonly item: T
  /** Time at which the item was received, from `now`. */
  readonly receivedAt: number
}

/** Buffered items of one source. */
export interface SourceBuffer<T> {
  readonly items: readonly BufferedItem<T>[]
  /** False once the source has ended. */
  readonly open: boolean
}

export type MergeStep = { readonly take: number } | { readonly wait: number } | { readonly ended: true }

/** Decides the next step: take the first item of a buffer, wait for a time or for a new item, or end. */
function chooseNext<T extends Timed>(
  buffers: readonly SourceBuffer<T>[],
  now: number,
  windowMs: number,
): MergeStep {
  let first: { readonly index: number; readonly head: BufferedItem<T> } | undefined
  for (const [index, { items }] of buffers.entries()) {
    const [head] = items
    if (head !== undefined && (first === undefined || head.item.time < first.head.item.time)) {
      first = { index, head }
    }
  }
  const isAnyPending = buffers.some(({ items, open }) => open && items.length === 0)
  if (first === undefined) return isAnyPending ? { wait: Infinity } : { ended: true }
  if (!isAnyPending) return { take: first.index }
  const wait = first.head.receivedAt + windowMs - now
  return wait <= 0 ? { take: first.index } : { wait }
}

/**
 * Merges all sources by time. Items with equal times keep the order of the sources. Items of an unsorted
 * source are not reordered, and no item is lost.
 */
export async function* mergeByTime<T extends Timed>(
  sources: readonly AsyncIterable<T>[],
  { windowMs, now = () => performance.now() }: MergeOptions,
): AsyncGenerator<T> {
  let wakeMerger = (): void => undefined
  let isDone = false
  const buffers = sources.map(() => ({
    items: [] as BufferedItem<T>[],
    open: true,
    resume: (): void => undefined,
  }))
  const failures: unknown[] = []
  const read = async (source: AsyncIterable<T>, buffer: (typeof buffers)[number]): Promise<void> => {
    try {
      for await (const item of source) {
        buffer.items.push({ item, receivedAt: now() })
        wakeMerger()
        if (buffer.items.length >= maxBuffered)
          await new Promise<void>((resolve) => (buffer.resume = resolve))
        if (isDone) return
      }
    } catch (error) {
      failures.push(error)
    } finally {
      buffer.open = false
      wakeMerger()
    }
  }
  try {
    for (const [index, buffer] of buffers.entries()) void read(sources[index] ?? emptySource(), buffer)
    for (;;) {
      if (failures.length > 0) throw failures[0]
      const next = chooseNext(buffers, now(), windowMs)
      if ('ended' in next) return
      if ('wait' in next) await waitOrWake(next.wait, (wake) => (wakeMerger = wake))
      else {
        const buffer = buffers[next.take]
        const taken = buffer?.items.shift()
        buffer?.resume()
        if (taken !== undefined) yield taken.item
      }
    }
  } finally {
    isDone = true
    for (const { resume } of buffers) resume()
  }
}

/** Waits until `wake` is called or the time has passed. */
async function waitOrWake(milliseconds: number, onWake: (wake: () => void) => void): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = Number.isFinite(milliseconds) ? setTimeout(resolve, milliseconds) : undefined
    onWake(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}

async function* emptySource(): AsyncGenerator<never> {}
