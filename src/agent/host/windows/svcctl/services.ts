import type { z } from 'zod'
import { HyperkubeError } from '../../../../kit/errors.ts'
import type { Clock } from '../../clock.ts'
import { type Operation, readOutput } from '../../windows-operations/operation.ts'
import { serviceOperations as table, serviceStates, startModes } from '../../windows-operations/services.ts'
import type { WindowsOperations } from '../../windows-operations/table.ts'
import { type ScmConnection, scmUnreachableError, serviceManagerPipe } from './connection.ts'
import {
  accessMasks,
  createScmClient,
  type Handle,
  OutcomeError,
  outcomes,
  type ScmClient,
  type ServiceStartConfig,
} from './manager.ts'
import type { ServiceSettingsStore } from './service-settings.ts'

export interface SvcctlServicesDeps {
  readonly connect: (signal: AbortSignal) => Promise<ScmConnection>
  readonly settings: ServiceSettingsStore
  readonly clock: Clock
  /** Used for operations whose caller passes no signal. */
  readonly signal?: AbortSignal
}

/** Milliseconds between checks whether a dependent has stopped. */
const pollIntervalMs = 250

/**
 * Implements service operations over the protocol of the Service Control Manager, [MS-SCMR]. Unlike the
 * output of command line programs, its responses do not depend on the language of the host. Each operation
 * opens its own connection, so handles do not stay open.
 */
export function svcctlServices({
  connect,
  settings,
  clock,
  signal: defaultSignal,
}: SvcctlServicesDeps): WindowsOperations['services'] {
  const runOperation = async <I extends z.ZodType, O extends z.ZodType>(
    operation: Operation<I, O>,
    input: z.input<I>,
    callerSignal: AbortSignal | undefined,
    work: (talk: ScmSession, input: z.output<I>) => Promise<readonly unknown[]>,
  ): Promise<z.output<O>> => {
    const checked = operation.input.parse(input)
    const timeoutSignal = AbortSignal.timeout(operation.timeoutMs)
    const signal = callerSignal === undefined ? timeoutSignal : AbortSignal.any([callerSignal, timeoutSignal])
    try {
      using connection = await connect(signal)
      return readOutput(
        operation,
        await work(await openScmSession(connection, operation.changes, signal), checked),
      )
    } catch (error) {
      callerSignal?.throwIfAborted()
      if (timeoutSignal.aborted) throw timeoutError(operation)
      throw error instanceof OutcomeError ? operationError(operation, error) : error
    }
  }
  const describeService = async (
    { manager, signal }: ScmSession,
    service: Handle,
    name: string,
  ): Promise<unknown> => {
    const { state, exitCode, processId } = await manager.status(service)
    const found = await settings.read(name, signal)
    return {
      Name: name,
      State: serviceStates[state - 1] ?? 'Unknown',
      StartMode: startModes[found.startType] ?? 'Unknown',
      ProcessId: processId,
      ExitCode: exitCode,
      PathName: found.commandLine,
      Description: found.description,
      DependsOn: found.dependsOn,
      Environment: found.environment,
    }
  }
  return {
    list: async (request, signal = defaultSignal) =>
      runOperation(table.list, request, signal, async (session, { names }) => {
        const found: unknown[] = []
        for (const name of new Set(names)) {
          found.push(
            await session.find(name, accessMasks.query, async (service) =>
              describeService(session, service, name),
            ),
          )
        }
        return found.filter((one) => one !== undefined)
      }),
    put: async (request, signal = defaultSignal) =>
      runOperation(
        table.put,
        request,
        signal,
        async (session, { name, description, restartAfter, environment, ...start }) => {
          const { manager } = session
          const finish = async (service: Handle): Promise<void> => {
            await manager.describe(service, description)
            await manager.restartAfter(service, restartAfter)
            await settings.setEnvironment(name, environment, session.signal)
          }
          const isPresent = await session.find(name, accessMasks.change, async (service) => {
            await manager.configure(service, start)
            await finish(service)
            return true
          })
          if (isPresent !== true) await session.create(name, start, finish)
          return []
        },
      ),
    start: async (request, signal = defaultSignal) =>
      runOperation(table.start, request, signal, async ({ manager, use }, { name }) => {
        await use(name, accessMasks.start, async (service) => manager.start(service))
        return []
      }),
    stop: async (request, signal = defaultSignal) =>
      runOperation(table.stop, request, signal, async (session, { name }) => {
        await stopWithDependents(session, name, async (abort) => clock.pause(pollIntervalMs, abort))
        return []
      }),
    remove: async (request, signal = defaultSignal) =>
      runOperation(table.remove, request, signal, async ({ manager, find }, { name }) => {
        await find(name, accessMasks.delete, async (service) => manager.delete(service))
        return []
      }),
  }
}

function operationError({ name }: Operation, { message }: OutcomeError): HyperkubeError {
  return new HyperkubeError('WINDOWS_OPERATION_FAILED', `${name} failed: ${message}`)
}

function timeoutError({ name, timeoutMs }: Operation): HyperkubeError {
  return new HyperkubeError(
    'WINDOWS_OPERATION_FAILED',
    `${name}: the Service Control Manager did not respond for ${timeoutMs / 1000} s`,
  )
}

/** A session with the Service Control Manager. Each service handle is closed right after use. */
interface ScmSession {
  readonly manager: ScmClient
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

async function openScmSession(
  connection: ScmConnection,
  changes: boolean,
  signal: AbortSignal,
): Promise<ScmSession> {
  const manager = createScmClient(connection)
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
async function stopWithDependents(
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
