import { type Connection, managerPipe, unreachable } from './connection.ts'
import {
  type Handle,
  type Manager,
  managerOver,
  OutcomeError,
  outcomes,
  rights,
  type Start,
} from './manager.ts'

/** One conversation with the manager about services, each of which is let go of as soon as it is not needed. */
export interface Talk {
  readonly manager: Manager
  readonly signal: AbortSignal
  /** Nothing when there is no such service. */
  readonly find: <T>(
    name: string,
    access: number,
    use: (service: Handle) => Promise<T>,
  ) => Promise<T | undefined>
  /** The same for one that has to be there. */
  readonly use: <T>(name: string, access: number, use: (service: Handle) => Promise<T>) => Promise<T>
  readonly create: (name: string, start: Start, use: (service: Handle) => Promise<void>) => Promise<void>
}

export async function talk(connection: Connection, changes: boolean, signal: AbortSignal): Promise<Talk> {
  const manager = managerOver(connection)
  const all = await manager
    .openManager(changes ? rights.connect | rights.create : rights.connect)
    .catch((error: unknown) => {
      if (error instanceof OutcomeError) throw error
      throw unreachable(managerPipe, signal, error)
    })
  const closing = async <T>(service: Handle, use: (service: Handle) => Promise<T>): Promise<T> => {
    const result = await use(service)
    // A service that was removed is there as long as anybody has it open. After a failure the connection ends, and all with it.
    await manager.close(service)
    return result
  }
  const find: Talk['find'] = async (name, access, use) => {
    const service = await manager.openService(all, name, access)
    return service === undefined ? undefined : closing(service, use)
  }
  return {
    manager,
    signal,
    find,
    async use(name, access, use) {
      const service = await manager.openService(all, name, access)
      if (service === undefined) throw new OutcomeError('openService', outcomes.noSuchService)
      return closing(service, use)
    },
    create: async (name, start, use) => closing(await manager.create(all, name, start), use),
  }
}

/** Stops a service, and before it those that depend on it and run. */
export async function stopWithDependents(
  { manager, use, signal }: Talk,
  name: string,
  pause: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  await use(name, rights.stop, async (service) => {
    if (await manager.stop(service)) return
    for (const other of await manager.dependents(service)) {
      await use(other, rights.stop, async (dependent) => {
        await manager.stop(dependent)
        while ((await manager.status(dependent)).state !== stopped) await pause(signal)
      })
    }
    await manager.stop(service)
  })
}

const stopped = 1
