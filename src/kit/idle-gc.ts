import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { z } from 'zod'

/**
 * Runs a full garbage collection after each burst of work; returns a function that stops this. V8 collects
 * only on allocation, which an idle service hardly does. Buffers live outside of its heap and add little
 * pressure.
 */
export function startIdleGc(intervalMs = 20_000): () => void {
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

/** V8 exposes its collector only behind a flag, and only in contexts created afterwards. */
function exposeGc(): () => void {
  setFlagsFromString('--expose-gc')
  const gc = z.custom<NodeJS.GCFunction>((value) => typeof value === 'function').parse(runInNewContext('gc'))
  return () => {
    gc({ type: 'major', flavor: 'last-resort' })
  }
}
