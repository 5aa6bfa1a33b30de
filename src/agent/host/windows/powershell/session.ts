import { type ChildProcess, spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { getAsset, isSea } from 'node:sea'
import { z } from 'zod'
import type { Argv } from '../../../../kit/command.ts'
import { HyperkubeError } from '../../../../kit/errors.ts'
import { toPrintable } from '../../../../kit/text.ts'

/** The script's response to a request. */
const scriptResponse = z.discriminatedUnion('ok', [
  z.strictObject({ id: z.int(), ok: z.literal(true), output: z.array(z.unknown()) }),
  z.strictObject({
    id: z.int(),
    ok: z.literal(false),
    error: z.strictObject({ message: z.string(), type: z.string(), about: z.string() }),
  }),
])
type ScriptResponse = z.output<typeof scriptResponse>

const linePrefix = 'hyperkube '

/**
 * Parses a line of output. Returns `nothing` for an empty line and `invalid-output` for a line that the
 * script did not write.
 */
function parseScriptResponse(line: string): ScriptResponse | 'nothing' | 'invalid-output' {
  const text = line.trim()
  if (text === '') return 'nothing'
  if (!text.startsWith(linePrefix)) return 'invalid-output'
  try {
    const { success, data } = scriptResponse.safeParse(JSON.parse(text.slice(linePrefix.length)))
    return success ? data : 'invalid-output'
  } catch {
    return 'invalid-output'
  }
}

/**
 * Maximum line length, more than all networks and policies of a host need. A longer line does not come from
 * the script.
 */
const maxLineLength = 16 * 2 ** 20
/**
 * Milliseconds until PowerShell must be ready. A start is slow because modules are loaded, code is compiled
 * and virus scanners check files.
 */
const startTimeoutMs = 60_000

/** One PowerShell process. Unexpected output ends the session. */
export interface PowerShellSession {
  /**
   * Sends a request. Rejects if the process ends, times out or writes unexpected output; the session is then
   * over.
   */
  send(request: ScriptRequest, timeoutMs: number, signal?: AbortSignal): Promise<ScriptResponse>
  readonly failed: boolean
  end(): Promise<void>
}

interface PendingRequest {
  readonly id: number
  readonly resolve: (response: ScriptResponse) => void
  readonly reject: (error: Error) => void
}

/** Starts a PowerShell process and waits until the script reports that it is loaded. */
export async function startPowerShell(
  argv: Argv,
  script: string,
  signal?: AbortSignal,
): Promise<PowerShellSession> {
  const [program, ...args] = argv
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'], windowsHide: true })
  const closed = new Promise<void>((resolve) => {
    child.once('close', () => resolve())
  })
  let pending: PendingRequest | undefined
  let failure: HyperkubeError | undefined
  const fail = (code: string, message: string, cause?: unknown): void => {
    failure ??= new HyperkubeError(code, message, cause === undefined ? {} : { cause })
    pending?.reject(failure)
    pending = undefined
    child.kill('SIGKILL')
  }
  const readStderr = captureStderr(child)
  child.once('error', (cause) => fail('POWERSHELL_ENDED', `cannot run ${program}`, cause))
  child.once('close', (code) =>
    fail('POWERSHELL_ENDED', `PowerShell exited with ${code ?? 'no code'}${readStderr()}`),
  )
  // Write errors are ignored, because the `close` event reports that the process has ended.
  child.stdin.on('error', () => undefined)
  onLines(child, (line) => {
    const response = line === undefined ? 'invalid-output' : parseScriptResponse(line)
    if (response === 'nothing') return
    if (response === 'invalid-output' || response.id !== pending?.id) {
      const shown = toPrintable((line ?? 'a line that is too long').slice(0, 200))
      return fail('POWERSHELL_INVALID_OUTPUT', `PowerShell returned invalid output: ${shown}`)
    }
    pending.resolve(response)
    pending = undefined
  })

  const sendLine = async (
    line: string,
    id: number,
    timeoutMs: number,
    abort?: AbortSignal,
  ): Promise<ScriptResponse> => {
    abort?.throwIfAborted()
    if (failure !== undefined) throw failure
    const timer = setTimeout(
      () => fail('POWERSHELL_TIMEOUT', `PowerShell did not respond for ${timeoutMs / 1000} s${readStderr()}`),
      timeoutMs,
    )
    // The operation may still complete, and its late response would be taken for that of the next request.
    // The process is therefore ended.
    const abandon = (): void => fail('POWERSHELL_ENDED', 'the caller stopped waiting for PowerShell')
    abort?.addEventListener('abort', abandon, { once: true })
    try {
      return await new Promise<ScriptResponse>((resolve, reject) => {
        pending = { id, resolve, reject }
        child.stdin.write(line)
      })
    } catch (error) {
      abort?.throwIfAborted()
      throw error
    } finally {
      clearTimeout(timer)
      abort?.removeEventListener('abort', abandon)
    }
  }

  const session: PowerShellSession = {
    get failed() {
      return failure !== undefined
    },
    send: async (request, timeoutMs, abort) =>
      sendLine(formatRequestLine(request), request.id, timeoutMs, abort),
    async end() {
      failure ??= new HyperkubeError('POWERSHELL_ENDED', 'PowerShell was stopped')
      child.kill('SIGKILL')
      await closed
    },
  }
  try {
    await sendLine(formatOpeningLine(script), 0, startTimeoutMs, signal)
    return session
  } catch (error) {
    await session.end()
    throw error
  }
}

/** Calls `onLine` for each line of output. Passes undefined if a line exceeds `maxLineLength`. */
function onLines(child: ChildProcess, onLine: (line: string | undefined) => void): void {
  let rest = ''
  child.stdout?.setEncoding('utf8').on('data', (piece: string) => {
    const lines = (rest + piece).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) onLine(line)
    if (rest.length > maxLineLength) onLine(undefined)
  })
}

/** Returns a function that returns the last output on stderr, for error messages. */
function captureStderr(child: ChildProcess): () => string {
  let stderr = ''
  child.stderr?.setEncoding('utf8').on('data', (piece: string) => {
    stderr = (stderr + piece).slice(-500)
  })
  return () => (stderr.trim() === '' ? '' : `: ${toPrintable(stderr.trim())}`)
}

/** Name of the script asset in the executable. */
const asset = 'host.ps1'

/** Reads the script host.ps1. It is constant and the only code that PowerShell runs. */
export async function readHostScript(): Promise<string> {
  return isSea() ? getAsset(asset, 'utf8') : readFile(join(import.meta.dirname, asset), 'utf8')
}

/**
 * Arguments of Windows PowerShell. With `-Command -` it reads commands from stdin line by line and writes no
 * prompts.
 */
export const powershellArguments: readonly string[] = [
  '-NoLogo',
  '-NoProfile',
  '-NonInteractive',
  '-InputFormat',
  'Text',
  '-OutputFormat',
  'Text',
  '-Command',
  '-',
]

/**
 * Formats the first line, which defines the script. Base64 contains no quotes, so the script cannot end the
 * quoted string. The script is never written to a file, where it could be changed.
 */
export function formatOpeningLine(script: string): string {
  return `. ([scriptblock]::Create([Text.Encoding]::UTF8.GetString([Convert]::FromBase64String('${base64(script)}'))))\n`
}

interface ScriptRequest {
  readonly id: number
  readonly operation: string
  readonly input: unknown
}

/** Formats a request. Its content is passed as data, never as code. */
export function formatRequestLine(request: ScriptRequest): string {
  return `Invoke-HyperkubeRequest '${base64(JSON.stringify(request))}'\n`
}

function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64')
}
