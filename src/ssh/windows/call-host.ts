import {
  type HostCallBody,
  hostCallFormat,
  type HostCallResponse,
  hostCallResponseFormat,
} from '../../contract/host-call.ts'
import { readVersionedLenient } from '../../contract/versioned.ts'
import type { Argv } from '../../kit/command.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { toAsciiJson, toPrintable } from '../../kit/text.ts'
import { readProgramLines } from '../program-lines.ts'
import type { OpenOptions, RunningProgram } from '../remote.ts'

export type HostCallResponseBody = HostCallResponse['body']
export type HostCallResponseOf<T extends HostCallResponseBody['type']> = Extract<
  HostCallResponseBody,
  { type: T }
>

export interface HostCallTarget {
  readonly host: string
  readonly base: string
  /** Path of the hyperkube program on the host. */
  readonly program: string
  readonly open: (argv: Argv, options: OpenOptions) => Promise<RunningProgram>
}

/** Arguments for the hyperkube program. It reads the request from standard input. */
export const hostCallArgs = ['host-call'] as const

/**
 * Sends a request to the hyperkube program on a Windows host and yields its responses. Throws the program's
 * error if the program refuses the request.
 */
export async function* streamHostResponses(
  { host, base, program, open }: HostCallTarget,
  request: HostCallBody,
  signal: AbortSignal,
  maxLineBytes?: number,
): AsyncGenerator<HostCallResponseBody> {
  const running = await open([program, ...hostCallArgs], { signal })
  const call = hostCallFormat.newest.schema.parse({
    apiVersion: 'hyperkube.dev/v1',
    kind: 'HostCall',
    base,
    body: request,
  })
  running.stdin.on('error', () => undefined)
  running.stdin.write(`${toAsciiJson(JSON.stringify(call))}\n`)
  // While logs are followed, standard input stays open. Its end shows the program that the caller has stopped
  // reading.
  if (request.type !== 'logs' || !request.follow) running.stdin.end()
  try {
    const origin = { host, what: 'the hyperkube program', hint: `on the host: ${program} version` }
    for await (const line of readProgramLines(running, origin, maxLineBytes)) {
      const { body: response } = readVersionedLenient(hostCallResponseFormat, parseLine(line, host))
      if (response.type === 'refused') throw toHostError(response, host)
      yield response
      if (response.type !== 'line' && response.type !== 'file') return
    }
    // The exit code is only used in the message, because a shell may change it.
    const { code, stderr } = await running.ended
    throw buildHostCallError(
      host,
      `it ended with exit code ${code}: ${toPrintable(stderr.trim().split('\n').at(-1) ?? '')}`,
    )
  } finally {
    running.kill()
  }
}

/** Like `streamHostResponses`, but returns a single response of the expected type. */
export async function callHost<T extends HostCallResponseBody['type']>(
  target: HostCallTarget,
  request: HostCallBody,
  expected: T,
  signal: AbortSignal,
): Promise<HostCallResponseOf<T>> {
  for await (const response of streamHostResponses(target, request, signal)) {
    if (isResponse(response, expected)) return response
    throw buildHostCallError(target.host, `unexpected response ${response.type}`)
  }
  throw buildHostCallError(target.host, 'no response')
}

function isResponse<T extends HostCallResponseBody['type']>(
  response: HostCallResponseBody,
  type: T,
): response is HostCallResponseOf<T> {
  return response.type === type
}

function parseLine(line: string, host: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    throw buildHostCallError(host, `invalid response: ${toPrintable(line.slice(0, 200))}`)
  }
}

function toHostError({ code, message, hint }: HostCallResponseOf<'refused'>, host: string): HyperkubeError {
  return new HyperkubeError(code, message, { host, ...(hint === undefined ? {} : { hint }) })
}

function buildHostCallError(host: string, why: string): HyperkubeError {
  return new HyperkubeError('HOST_CALL_FAILED', `the call of hyperkube on the host failed: ${why}`, {
    host,
    hint: 'log in with ssh: the shell must be cmd.exe or PowerShell, and must print nothing at login',
  })
}
