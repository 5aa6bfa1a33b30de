import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { z } from 'zod'

/**
 * Gives back memory after each burst of work, and answers with what ends that. V8 collects garbage only when somebody
 * wants more, which a service that waits never does; and what was read and sent counts little for it, being outside of
 * its heap.
 */
export function giveBackMemory(every = 20_000): () => void {
  const collect = collector()
  let kept = 0
  const timer = setInterval(() => {
    if (held() < kept * 1.25) return
    collect()
    kept = held()
  }, every).unref()
  return () => clearInterval(timer)
}

function held(): number {
  const { heapTotal, arrayBuffers } = process.memoryUsage()
  return heapTotal + arrayBuffers
}

/** V8 shows its collector only to those who ask for it by a flag, in contexts that are made afterwards. */
function collector(): () => void {
  setFlagsFromString('--expose-gc')
  const gc = z.custom<NodeJS.GCFunction>((value) => typeof value === 'function').parse(runInNewContext('gc'))
  return () => {
    gc({ type: 'major', flavor: 'last-resort' })
  }
}
