import type { Host, LinuxHost, WindowsHost } from '../../host/host.ts'

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
  return {
    ...host,
    ...shared(host, life),
    users: edge(host.users, life),
    kernel: edge(host.kernel, life),
    systemd: edge(host.systemd, life),
  }
}

/** The same of a Windows host. */
export function mortalWindows(host: WindowsHost, life: Life): WindowsHost {
  const { operations } = host
  return {
    ...host,
    ...shared(host, life),
    services: edge(host.services, life),
    images: edge(host.images, life),
    operations: {
      ...operations,
      services: edge(operations.services, life),
      firewall: edge(operations.firewall, life),
      networks: edge(operations.networks, life),
      routes: edge(operations.routes, life),
    },
  }
}

function shared(host: Host, life: Life): Pick<Host, 'files' | 'fetch' | 'tar'> {
  return { files: edge(host.files, life), fetch: edge(host.fetch, life), tar: edge(host.tar, life) }
}

function edge<T extends object>(real: T, life: Life): T {
  return new Proxy(real, {
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
}
