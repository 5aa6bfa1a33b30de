import type { Host, LinuxHost, WindowsHost } from '../../host/host.ts'

/** Thrown by every call to a host after its simulated process was killed. */
export class Killed extends Error {
  constructor() {
    super('killed')
  }
}

/** Counts calls to the interfaces of a host and defines the call at which the process is killed. */
export interface CrashPoint {
  calls: number
  /**
   * Number of the crash point. Calls are counted from 0: for call n, 2n kills before the call and 2n + 1
   * after it.
   */
  readonly ends: number
}

/** Wraps a Linux host so that its process is killed at the crash point. */
export function withCrash(host: LinuxHost, crash: CrashPoint): LinuxHost {
  return {
    ...host,
    ...crashingShared(host, crash),
    users: crashing(host.users, crash),
    kernel: crashing(host.kernel, crash),
    services: crashing(host.services, crash),
    docker: crashing(host.docker, crash),
  }
}

/** Wraps a Windows host so that its process is killed at the crash point. */
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
