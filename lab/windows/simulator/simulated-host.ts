import { readOutput, type RunOperation } from '../../../src/agent/host/windows-operations/operation.ts'
import {
  buildWindowsOperations,
  type WindowsOperations,
} from '../../../src/agent/host/windows-operations/table.ts'
import { HyperkubeError } from '../../../src/kit/errors.ts'
import { fileHandlers } from './file-handlers.ts'
import type { Handlers } from './handler.ts'
import type { Machine } from './machine.ts'
import { networkHandlers } from './network-handlers.ts'
import { serviceHandlers } from './service-handlers.ts'
import { advance } from './time.ts'

/**
 * How an operation fails: PowerShell does not respond or prints invalid output, before or after the operation
 * took effect.
 */
export type PowerShellFault =
  | 'silent-before'
  | 'silent-after'
  | 'invalid-output-before'
  | 'invalid-output-after'

export interface SimulatedHost {
  readonly host: WindowsOperations
  readonly machine: Machine
  /** Faults of the next operations, in order; undefined means success. */
  readonly faults: (PowerShellFault | undefined)[]
  /** Operations that changed the host or tried to change it. */
  readonly changes: { readonly operation: string; readonly input: unknown }[]
  /** Performs an operation and returns the same output as host.ps1. */
  readonly respond: (operation: string, input: unknown) => readonly unknown[]
}

type Handle = (input: unknown) => readonly unknown[]

/** Creates a simulated Windows host. `before` runs before every operation. */
export function simulatedHost(machine: Machine, before: () => void = () => undefined): SimulatedHost {
  const handlers = new Map<string, Handle>(
    Object.entries(createHandlers(machine)).flatMap(([part, verbs]) =>
      Object.entries<(input: never) => readonly unknown[]>(verbs).map(
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each handler is called only with input that its own schema has validated
        ([verb, handle]) => [`${part}.${verb}`, handle as Handle] as const,
      ),
    ),
  )
  const injected: (PowerShellFault | undefined)[] = []
  const changes: { operation: string; input: unknown }[] = []
  const respond = (operation: string, input: unknown): readonly unknown[] => {
    const handle = handlers.get(operation)
    if (handle === undefined) throw new Error(`there is no operation ${operation}`)
    return handle(input)
  }
  const run: RunOperation = async (operation, input, signal) => {
    signal?.throwIfAborted()
    before()
    const checked: unknown = operation.input.parse(input)
    const fault = injected.shift()
    if (fault?.endsWith('-before') === true) throw toFaultError(machine, fault, operation.timeoutMs)
    if (operation.changes) changes.push({ operation: operation.name, input: checked })
    const output = attempt(operation.name, () => respond(operation.name, checked))
    if (fault !== undefined) throw toFaultError(machine, fault, operation.timeoutMs)
    return readOutput(operation, output)
  }
  return { host: buildWindowsOperations(run), machine, faults: injected, changes, respond }
}

function attempt(operation: string, handle: () => readonly unknown[]): readonly unknown[] {
  try {
    return handle()
  } catch (cause) {
    throw new HyperkubeError('WINDOWS_OPERATION_FAILED', `${operation} failed`, { cause })
  }
}

function toFaultError(machine: Machine, injected: PowerShellFault, timeoutMs: number): HyperkubeError {
  if (injected.startsWith('invalid-output'))
    return new HyperkubeError('POWERSHELL_INVALID_OUTPUT', 'PowerShell returned invalid output')
  advance(machine, timeoutMs)
  return new HyperkubeError('POWERSHELL_TIMEOUT', `PowerShell did not respond for ${timeoutMs / 1000} s`)
}

function createHandlers(machine: Machine): Handlers {
  return {
    ...serviceHandlers(machine),
    ...networkHandlers(machine),
    ...fileHandlers(machine),
  }
}
