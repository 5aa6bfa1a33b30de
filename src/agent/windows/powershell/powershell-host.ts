import { win32 } from 'node:path'
import type { Argv } from '../../../kit/command.ts'
import { hasCode, HyperkubeError } from '../../../kit/errors.ts'
import { printable } from '../../../kit/printable.ts'
import { inTurns } from '../../../kit/mutex.ts'
import { hostOf, type WindowsOperations } from '../operations/windows-operations.ts'
import type { Ask, Operation } from '../operations/operation.ts'
import { readOutput } from '../operations/read-output.ts'
import { type Conversation, converse } from './session.ts'
import { powershellArguments } from './script.ts'

export interface PowerShellWish {
  readonly script: string
  /** Another program than the host's own, for whoever has none. */
  readonly argv?: Argv
  /** Milliseconds, instead of what the table gives each operation. */
  readonly within?: number
  /** Ends whatever is under way, for whoever asks without one of his own. */
  readonly signal?: AbortSignal
}

export interface PowerShellHost extends AsyncDisposable {
  readonly host: WindowsOperations
  /** How many processes there were so far. */
  readonly processes: number
}

/** Windows PowerShell, of which every Windows has one at the same place; a PATH could lead to another. */
export function powershellArgv(systemRoot: string): Argv {
  const program = win32.join(systemRoot, 'System32', 'WindowsPowerShell', 'v1.0', 'powershell.exe')
  return [program, ...powershellArguments]
}

/**
 * A Windows host through one process of PowerShell, which lives as long as it behaves. Operations take turns. One that
 * only looks is asked once more of a new process; of one that changes the host nobody knows whether it was done, and
 * whoever asked has to look.
 */
export function powershellHost({ script, argv, within, signal: whole }: PowerShellWish): PowerShellHost {
  const command = argv ?? powershellArgv(process.env['SystemRoot'] ?? String.raw`C:\Windows`)
  const inTurn = inTurns()
  let conversation: Conversation | undefined
  let started = 0
  let asked = 0
  const partner = async (signal?: AbortSignal): Promise<Conversation> => {
    if (conversation !== undefined && !conversation.over) return conversation
    started++
    conversation = await converse(command, script, signal)
    return conversation
  }
  const attempt = async (operation: Operation, input: unknown, signal?: AbortSignal): Promise<unknown[]> => {
    const request = { id: ++asked, operation: operation.name, input }
    const said = await (await partner(signal)).ask(request, within ?? operation.within, signal)
    if (said.ok) return said.output
    const { message, type } = said.error
    throw new HyperkubeError(
      'WINDOWS_OPERATION_FAILED',
      `${operation.name} failed: ${printable(message)} (${printable(type)})`,
    )
  }
  const ask: Ask = async (operation, input, signal = whole) => {
    const checked: unknown = operation.input.parse(input)
    const output = await inTurn(async () =>
      attempt(operation, checked, signal).catch(async (error: unknown) => {
        if (signal?.aborted === true || !isOver(error)) throw error
        if (operation.changes) throw unanswered(operation, error)
        return attempt(operation, checked, signal).catch((again: unknown) => {
          throw isOver(again) ? unanswered(operation, again) : again
        })
      }),
    )
    return readOutput(operation, output)
  }
  return {
    host: hostOf(ask),
    get processes() {
      return started
    },
    async [Symbol.asyncDispose]() {
      await conversation?.end()
    },
  }
}

/** Whether it was the process that failed, and not what it was asked for. */
function isOver(error: unknown): error is HyperkubeError {
  return ['POWERSHELL_ENDED', 'POWERSHELL_SILENT', 'POWERSHELL_RUBBISH'].some((code) => hasCode(error, code))
}

function unanswered({ name }: Operation, { code, message, cause }: HyperkubeError): HyperkubeError {
  return new HyperkubeError(code, `${name} was not answered: ${message}`, { cause })
}
