import { Readable } from 'node:stream'

/** For tests: a stream of one endless line that counts what was read from it. */
export interface Flood {
  readonly stream: Readable
  readonly read: () => number
}

export function createFlood(size: number, chunkSize = 64 << 10): Flood {
  const chunk = Buffer.alloc(chunkSize, 'x')
  let done = 0
  const stream = new Readable({
    read() {
      if (done >= size) this.push(null)
      else {
        done += chunk.length
        // Each chunk is a new buffer, like the chunks of a real sender.
        this.push(Buffer.from(chunk))
      }
    },
  })
  return { stream, read: () => done }
}

/** For tests: runs a reader and prints how much it read, its time and the growth of memory. */
export async function countFlood(
  { read }: Flood,
  work: () => Promise<void>,
): Promise<{ readonly read: number; readonly memory: number }> {
  const before = process.memoryUsage.rss()
  let peak = before
  const sample = (): void => void (peak = Math.max(peak, process.memoryUsage.rss()))
  const timer = setInterval(sample, 5)
  const start = performance.now()
  await work()
  clearInterval(timer)
  sample()
  const [elapsed, memory] = [performance.now() - start, peak - before]
  process.stdout.write(
    `read ${read() >> 20} MiB in ${Math.round(elapsed)} ms, memory grew by ${memory >> 20} MiB\n`,
  )
  return { read: read(), memory }
}
