import { win32 } from 'node:path'
import type { Argv } from '../../../../kit/command.ts'
import { createMutex } from '../../../../kit/concurrency.ts'
import { hasCode, HyperkubeError } from '../../../../kit/errors.ts'
import { toPrintable } from '../../../../kit/text.ts'
import { type Operation, readOutput, type RunOperation } from '../../windows-operations/operation.ts'
import { buildWindowsOperations, type WindowsOperations } from '../../windows-operations/table.ts'
import { powershellArguments, type PowerShellSession, startPowerShell } from './session.ts'

export interface PowerShellOptions {
  readonly script: string
  /** Command to run instead of the host's PowerShell. */
  readonly argv?: Argv
  /** Replaces the timeout of all operations, in milliseconds. */
  readonly timeoutMs?: number
  /** Used for operations whose caller passes no signal. */
  readonly signal?: AbortSignal
}

export interface PowerShellHost extends AsyncDisposable {
  readonly host: WindowsOperations
  /** Number of PowerShell processes that were started so far. */
  readonly processes: number
}

/** Command for Windows PowerShell at its fixed path, because PATH could lead to another program. */
export function powershellArgv(systemRoot: string): Argv {
  const program = win32.join(systemRoot, 'System32', 'WindowsPowerShell', 'v1.0', 'powershell.exe')
  return [program, ...powershellArguments]
}

/**
 * Runs operations in one PowerShell process, one at a time, and replaces the process after a failure. A
 * failed read is repeated once with a new process. After a failed change the result is unknown, so the caller
 * must observe the host.
 */
export function powershellHost({
  script,
  argv,
  timeoutMs,
  signal: hostSignal,
}: PowerShellOptions): PowerShellHost {
  const command = argv ?? powershellArgv(process.env['SystemRoot'] ?? String.raw`C:\Windows`)
  const inTurn = createMutex()
  let session: PowerShellSession | undefined
  let started = 0
  let requestCount = 0
  const openSession = async (signal?: AbortSignal): Promise<PowerShellSession> => {
    if (session !== undefined && !session.failed) return session
    started++
    session = await startPowerShell(command, script, signal)
    return session
  }
  const sendRequest = async (
    operation: Operation,
    input: unknown,
    signal?: AbortSignal,
  ): Promise<unknown[]> => {
    const request = { id: ++requestCount, operation: operation.name, input }
    const response = await (await openSession(signal)).send(request, timeoutMs ?? operation.timeoutMs, signal)
    if (response.ok) return response.output
    const { message, type } = response.error
    throw new HyperkubeError(
      'WINDOWS_OPERATION_FAILED',
      `${operation.name} failed: ${toPrintable(message)} (${toPrintable(type)})`,
    )
  }
  const runOperation: RunOperation = async (operation, input, signal = hostSignal) => {
    const checked: unknown = operation.input.parse(input)
    const output = await inTurn(async () =>
      sendRequest(operation, checked, signal).catch(async (error: unknown) => {
        if (signal?.aborted === true || !isSessionError(error)) throw error
        if (operation.changes) throw noResponseError(operation, error)
        return sendRequest(operation, checked, signal).catch((again: unknown) => {
          throw isSessionError(again) ? noResponseError(operation, again) : again
        })
      }),
    )
    return readOutput(operation, output)
  }
  return {
    host: buildWindowsOperations(runOperation),
    get processes() {
      return started
    },
    async [Symbol.asyncDispose]() {
      await session?.end()
    },
  }
}

/** True if the PowerShell process failed, not the operation. */
function isSessionError(error: unknown): error is HyperkubeError {
  return ['POWERSHELL_ENDED', 'POWERSHELL_TIMEOUT', 'POWERSHELL_INVALID_OUTPUT'].some((code) =>
    hasCode(error, code),
  )
}

function noResponseError({ name }: Operation, { code, message, cause }: HyperkubeError): HyperkubeError {
  return new HyperkubeError(code, `${name} failed: ${message}`, { cause })
}
