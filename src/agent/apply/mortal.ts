import type { LinuxHost } from '../host/host.ts'

/** Ends a test's process, as far as its host can tell: nothing is done any more after it. */
export class Killed extends Error {
  constructor() {
    super('killed')
  }
}

/** Counts calls of a host's edges, and says after which one it is over. */
export interface Life {
  calls: number
  /** Before the call when even, after it when odd: call 3 is at 6 and 7. */
  readonly ends: number
}

/** The same host for a process that is killed at one of its calls. */
export function mortal(host: LinuxHost, life: Life): LinuxHost {
  const edge = <T extends object>(real: T): T =>
    new Proxy(real, {
      get(target, property, receiver) {
        const value: unknown = Reflect.get(target, property, receiver)
        if (typeof value !== 'function') return value
        return async (...args: unknown[]) => {
          const call = life.calls++
          if (2 * call >= life.ends) throw new Killed()
          const answer: unknown = await Reflect.apply(value, target, args)
          if (2 * call + 1 >= life.ends) throw new Killed()
          return answer
        }
      },
    })
  return {
    ...host,
    files: edge(host.files),
    users: edge(host.users),
    kernel: edge(host.kernel),
    systemd: edge(host.systemd),
    fetch: edge(host.fetch),
    tar: edge(host.tar),
  }
}
