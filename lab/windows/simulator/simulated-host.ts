import { HyperkubeError } from '../../../src/kit/errors.ts'
import { hostOf, type WindowsOperations } from '../../../src/agent/windows/operations/windows-operations.ts'
import type { Ask } from '../../../src/agent/windows/operations/operation.ts'
import { readOutput } from '../../../src/agent/windows/operations/read-output.ts'
import { handlersOf } from './handlers.ts'
import type { Machine } from './machine.ts'
import { advance } from './time.ts'

/** What may become of the next operation, besides that it is done: PowerShell hangs or prints rubbish, before it or after it. */
export type Trouble = 'silent-before' | 'silent-after' | 'rubbish-before' | 'rubbish-after'

export interface SimulatedHost {
  readonly host: WindowsOperations
  readonly machine: Machine
  /** For each of the next operations; without one it goes well. */
  readonly trouble: (Trouble | undefined)[]
  /** Operations that have changed the host, or tried to. */
  readonly changes: { readonly operation: string; readonly input: unknown }[]
  /** What the script would have answered. */
  readonly answer: (operation: string, input: unknown) => readonly unknown[]
}

type Handle = (input: unknown) => readonly unknown[]

/** A Windows host that is all state, and answers as the script does. `before` comes before every question. */
export function simulatedHost(machine: Machine, before: () => void = () => undefined): SimulatedHost {
  const handlers = new Map<string, Handle>(
    Object.entries(handlersOf(machine)).flatMap(([part, verbs]) =>
      Object.entries<(input: never) => readonly unknown[]>(verbs).map(
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each is given what its own schema has checked
        ([verb, handle]) => [`${part}.${verb}`, handle as Handle] as const,
      ),
    ),
  )
  const trouble: (Trouble | undefined)[] = []
  const changes: { operation: string; input: unknown }[] = []
  const answer = (operation: string, input: unknown): readonly unknown[] => {
    const handle = handlers.get(operation)
    if (handle === undefined) throw new Error(`there is no operation ${operation}`)
    return handle(input)
  }
  const ask: Ask = async (operation, input, signal) => {
    signal?.throwIfAborted()
    before()
    const checked: unknown = operation.input.parse(input)
    const wrong = trouble.shift()
    if (wrong?.endsWith('-before') === true) throw spoilt(machine, wrong, operation.within)
    if (operation.changes) changes.push({ operation: operation.name, input: checked })
    const output = attempt(operation.name, () => answer(operation.name, checked))
    if (wrong !== undefined) throw spoilt(machine, wrong, operation.within)
    return readOutput(operation, output)
  }
  return { host: hostOf(ask), machine, trouble, changes, answer }
}

function attempt(operation: string, handle: () => readonly unknown[]): readonly unknown[] {
  try {
    return handle()
  } catch (cause) {
    throw new HyperkubeError('WINDOWS_OPERATION_FAILED', `${operation} failed`, { cause })
  }
}

function spoilt(machine: Machine, trouble: Trouble, within: number): HyperkubeError {
  if (trouble.startsWith('rubbish'))
    return new HyperkubeError('POWERSHELL_RUBBISH', 'PowerShell said something that is no answer')
  advance(machine, within)
  return new HyperkubeError('POWERSHELL_SILENT', `PowerShell has said nothing for ${within / 1000} s`)
}
