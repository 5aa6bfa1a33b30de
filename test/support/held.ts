import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** What this process holds on to, once everything was thrown away that nobody needs. */
export interface Held {
  readonly heap: number
  readonly sockets: number
}

export function heldNow(): Held {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  if (typeof collect !== 'function') throw new Error('there is no way to collect garbage')
  collect()
  const sockets = process.getActiveResourcesInfo().filter((name) => name.startsWith('TCPSocket')).length
  return { heap: process.memoryUsage().heapUsed, sockets }
}
