import type { z } from 'zod'
import { HyperkubeError } from '../../../kit/errors.ts'
import type { Clock } from '../../host/clock.ts'
import type { WindowsOperations } from '../operations/windows-operations.ts'
import type { Operation } from '../operations/operation.ts'
import { readOutput } from '../operations/read-output.ts'
import { serviceOperations as table, serviceStates, startModes } from '../operations/services.ts'
import type { ScmConnection } from './connection.ts'
import { type Handle, OutcomeError, accessMasks } from './manager.ts'
import type { ServiceSettingsStore } from './service-settings.ts'
import { stopWithDependents, openScmSession, type ScmSession } from './session.ts'

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
 * Implements service operations over the protocol of the Service Control Manager, [MS-SCMR]. Unlike command
 * line programs, its results do not depend on the language of the host. Each operation opens its own
 * connection, so handles do not stay open.
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
    `${name}: the manager of services has said nothing for ${timeoutMs / 1000} s`,
  )
}
