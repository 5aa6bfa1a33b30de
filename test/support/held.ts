import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Heap size and open sockets of this process after garbage collection. */
export interface MemoryUse {
  readonly heap: number
  readonly sockets: number
}

export function measureMemory(): MemoryUse {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  if (typeof collect !== 'function') throw new Error('there is no way to collect garbage')
  collect()
  const sockets = process.getActiveResourcesInfo().filter((name) => name.startsWith('TCPSocket')).length
  return { heap: process.memoryUsage().heapUsed, sockets }
}
