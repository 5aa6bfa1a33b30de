import { type ScmConnection, serviceManagerPipe, scmUnreachableError } from './connection.ts'
import {
  type Handle,
  type ServiceManager,
  createServiceManager,
  OutcomeError,
  outcomes,
  accessMasks,
  type ServiceStartConfig,
} from './manager.ts'

/** A session with the Service Control Manager. Each service handle is closed right after use. */
export interface ScmSession {
  readonly manager: ServiceManager
  readonly signal: AbortSignal
  /** Opens a service and calls `use` with its handle. Returns undefined if the service does not exist. */
  readonly find: <T>(
    name: string,
    access: number,
    use: (service: Handle) => Promise<T>,
  ) => Promise<T | undefined>
  /** Like `find`, but fails if the service does not exist. */
  readonly use: <T>(name: string, access: number, use: (service: Handle) => Promise<T>) => Promise<T>
  readonly create: (
    name: string,
    start: ServiceStartConfig,
    use: (service: Handle) => Promise<void>,
  ) => Promise<void>
}

export async function openScmSession(
  connection: ScmConnection,
  changes: boolean,
  signal: AbortSignal,
): Promise<ScmSession> {
  const manager = createServiceManager(connection)
  const managerHandle = await manager
    .openManager(changes ? accessMasks.connect | accessMasks.create : accessMasks.connect)
    .catch((error: unknown) => {
      if (error instanceof OutcomeError) throw error
      throw scmUnreachableError(serviceManagerPipe, signal, error)
    })
  const useAndClose = async <T>(service: Handle, use: (service: Handle) => Promise<T>): Promise<T> => {
    const result = await use(service)
    // Close the handle, because a removed service exists until its last handle is closed. After a failure the
    // whole connection ends, which closes all handles.
    await manager.close(service)
    return result
  }
  const find: ScmSession['find'] = async (name, access, use) => {
    const service = await manager.openService(managerHandle, name, access)
    return service === undefined ? undefined : useAndClose(service, use)
  }
  return {
    manager,
    signal,
    find,
    async use(name, access, use) {
      const service = await manager.openService(managerHandle, name, access)
      if (service === undefined) throw new OutcomeError('openService', outcomes.noSuchService)
      return useAndClose(service, use)
    },
    create: async (name, start, use) => useAndClose(await manager.create(managerHandle, name, start), use),
  }
}

/** Stops a service. If running dependents prevent this, they are stopped first. */
export async function stopWithDependents(
  { manager, use, signal }: ScmSession,
  name: string,
  pause: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  await use(name, accessMasks.stop, async (service) => {
    if (await manager.stop(service)) return
    for (const other of await manager.dependents(service)) {
      await use(other, accessMasks.stop, async (dependent) => {
        await manager.stop(dependent)
        while ((await manager.status(dependent)).state !== stoppedState) await pause(signal)
      })
    }
    await manager.stop(service)
  })
}

const stoppedState = 1
