import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { z } from 'zod'

/**
 * Regularly runs a full garbage collection if memory use has grown. The timer is necessary because V8
 * collects only when a program allocates memory, and an idle service allocates little. A shorter interval
 * would use more processor time than the idle service itself. The returned function stops the timer.
 */
export function startIdleGc(intervalMs = 60_000): () => void {
  const collect = exposeGc()
  let usedAfterGc = 0
  const timer = setInterval(() => {
    if (usedMemory() < usedAfterGc * 1.25) return
    collect()
    usedAfterGc = usedMemory()
  }, intervalMs).unref()
  return () => clearInterval(timer)
}

function usedMemory(): number {
  const { heapTotal, arrayBuffers } = process.memoryUsage()
  return heapTotal + arrayBuffers
}

/**
 * Returns V8's garbage collector. V8 exposes it only with a flag, and only in contexts that are created after
 * the flag is set.
 */
function exposeGc(): () => void {
  setFlagsFromString('--expose-gc')
  const gc = z.custom<NodeJS.GCFunction>((value) => typeof value === 'function').parse(runInNewContext('gc'))
  return () => {
    gc({ type: 'major', flavor: 'last-resort' })
  }
}
