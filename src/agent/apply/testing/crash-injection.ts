import type { Host, LinuxHost, WindowsHost } from '../../host/host.ts'

/** Thrown by a host whose simulated process was killed: nothing is done after it. */
export class Killed extends Error {
  constructor() {
    super('killed')
  }
}

/** Counts calls to the interfaces of a host and defines at which one the process is killed. */
export interface CrashPoint {
  calls: number
  /** Even numbers kill before a call, odd ones after it: call 3 is at 6 and 7. */
  readonly ends: number
}

/** A host whose process is killed at one of its calls. */
export function withCrash(host: LinuxHost, crash: CrashPoint): LinuxHost {
  return {
    ...host,
    ...crashingShared(host, crash),
    users: crashing(host.users, crash),
    kernel: crashing(host.kernel, crash),
    systemd: crashing(host.systemd, crash),
  }
}

/** The same for a Windows host. */
export function withCrashOnWindows(host: WindowsHost, crash: CrashPoint): WindowsHost {
  const { operations } = host
  return {
    ...host,
    ...crashingShared(host, crash),
    services: crashing(host.services, crash),
    images: crashing(host.images, crash),
    operations: {
      ...operations,
      services: crashing(operations.services, crash),
      firewall: crashing(operations.firewall, crash),
      networks: crashing(operations.networks, crash),
      routes: crashing(operations.routes, crash),
    },
  }
}

function crashingShared(host: Host, crash: CrashPoint): Pick<Host, 'files' | 'fetch' | 'tar'> {
  return {
    files: crashing(host.files, crash),
    fetch: crashing(host.fetch, crash),
    tar: crashing(host.tar, crash),
  }
}

function crashing<T extends object>(real: T, crash: CrashPoint): T {
  return new Proxy(real, {
    get(target, property, receiver) {
      const value: unknown = Reflect.get(target, property, receiver)
      if (typeof value !== 'function') return value
      return async (...args: unknown[]) => {
        const call = crash.calls++
        if (2 * call >= crash.ends) throw new Killed()
        const result: unknown = await Reflect.apply(value, target, args)
        if (2 * call + 1 >= crash.ends) throw new Killed()
        return result
      }
    },
  })
}
