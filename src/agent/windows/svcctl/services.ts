import type { z } from 'zod'
import { HyperkubeError } from '../../../kit/errors.ts'
import type { Clock } from '../../host/clock.ts'
import type { WindowsOperations } from '../operations/windows-operations.ts'
import type { Operation } from '../operations/operation.ts'
import { readOutput } from '../operations/read-output.ts'
import { services as table, serviceStates, startModes } from '../operations/services.ts'
import type { Connection } from './connection.ts'
import { type Handle, OutcomeError, rights } from './manager.ts'
import type { SettingsBook } from './service-settings.ts'
import { stopWithDependents, talk, type Talk } from './session.ts'

export interface SvcctlEdges {
  readonly connect: (signal: AbortSignal) => Promise<Connection>
  readonly settings: SettingsBook
  readonly clock: Clock
  /** Ends whatever is under way, for whoever asks without one of his own. */
  readonly signal?: AbortSignal
}

/** Milliseconds between two looks at a service that has to stop before another one may. */
const every = 250

/**
 * Services through their manager's own protocol, [MS-SCMR]: numbers and texts as they are, where programs print them in the
 * language of the host. Each operation is a conversation of its own, so that nothing is left open.
 */
export function svcctlServices({
  connect,
  settings,
  clock,
  signal: all,
}: SvcctlEdges): WindowsOperations['services'] {
  const perform = async <I extends z.ZodType, O extends z.ZodType>(
    operation: Operation<I, O>,
    input: z.input<I>,
    whole: AbortSignal | undefined,
    work: (talk: Talk, input: z.output<I>) => Promise<readonly unknown[]>,
  ): Promise<z.output<O>> => {
    const checked = operation.input.parse(input)
    const late = AbortSignal.timeout(operation.within)
    const signal = whole === undefined ? late : AbortSignal.any([whole, late])
    try {
      using connection = await connect(signal)
      return readOutput(operation, await work(await talk(connection, operation.changes, signal), checked))
    } catch (error) {
      whole?.throwIfAborted()
      if (late.aborted) throw silent(operation)
      throw error instanceof OutcomeError ? failed(operation, error) : error
    }
  }
  const look = async ({ manager, signal }: Talk, service: Handle, name: string): Promise<unknown> => {
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
    list: async (wish, signal = all) =>
      perform(table.list, wish, signal, async (conversation, { names }) => {
        const found: unknown[] = []
        for (const name of new Set(names)) {
          found.push(
            await conversation.find(name, rights.look, async (service) => look(conversation, service, name)),
          )
        }
        return found.filter((one) => one !== undefined)
      }),
    put: async (wish, signal = all) =>
      perform(
        table.put,
        wish,
        signal,
        async (conversation, { name, description, restartAfter, environment, ...start }) => {
          const { manager } = conversation
          const finish = async (service: Handle): Promise<void> => {
            await manager.describe(service, description)
            await manager.restartAfter(service, restartAfter)
            await settings.setEnvironment(name, environment, conversation.signal)
          }
          const isThere = await conversation.find(name, rights.change, async (service) => {
            await manager.configure(service, start)
            await finish(service)
            return true
          })
          if (isThere !== true) await conversation.create(name, start, finish)
          return []
        },
      ),
    start: async (wish, signal = all) =>
      perform(table.start, wish, signal, async ({ manager, use }, { name }) => {
        await use(name, rights.start, async (service) => manager.start(service))
        return []
      }),
    stop: async (wish, signal = all) =>
      perform(table.stop, wish, signal, async (conversation, { name }) => {
        await stopWithDependents(conversation, name, async (abort) => clock.pause(every, abort))
        return []
      }),
    remove: async (wish, signal = all) =>
      perform(table.remove, wish, signal, async ({ manager, find }, { name }) => {
        await find(name, rights.delete, async (service) => manager.delete(service))
        return []
      }),
  }
}

function failed({ name }: Operation, { message }: OutcomeError): HyperkubeError {
  return new HyperkubeError('WINDOWS_OPERATION_FAILED', `${name} failed: ${message}`)
}

function silent({ name, within }: Operation): HyperkubeError {
  return new HyperkubeError(
    'WINDOWS_OPERATION_FAILED',
    `${name}: the manager of services has said nothing for ${within / 1000} s`,
  )
}
