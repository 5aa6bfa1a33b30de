import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { HyperkubeError } from '../../../kit/errors.ts'
import {
  buildBindBody,
  type Fragment,
  buildFragment,
  kinds,
  readBindAck,
  readFragment,
  buildRequestFragments,
} from './pdu.ts'

/** Named pipe of the Service Control Manager, the same in every version of Windows. */
export const serviceManagerPipe = String.raw`\\.\pipe\svcctl`

/**
 * One RPC connection to the Service Control Manager. Calls run one after another; the first failure ends the
 * connection.
 */
export interface ScmConnection extends Disposable {
  readonly call: (procedure: number, stub: Buffer) => Promise<Buffer>
}

/** Maximum response size in bytes. Real responses have a few dozen kilobytes at most. */
const maxResponseBytes = 2 ** 20

export async function connectServiceManager(pipe: string, signal: AbortSignal): Promise<ScmConnection> {
  const socket = await openPipe(pipe, signal)
  const fragments = readFragments(socket)
  let calls = 0
  let maxFragmentLength = 0
  // Only one call is in progress at a time, so all fragments belong to it. Call ids are not compared, because
  // Wine uses the same id for all responses.
  const readResponse = async (): Promise<Fragment[]> => {
    const parts: Fragment[] = []
    for (let size = 0; parts.at(-1)?.last !== true;) {
      const next = await fragments.next().catch((cause: unknown) => {
        signal.throwIfAborted()
        throw protocolError('the connection broke', cause)
      })
      if (next.done === true) throw protocolError('it ended in the middle of an answer')
      parts.push(next.value)
      size += next.value.body.length
      if (size > maxResponseBytes) throw protocolError('its answer has no end')
    }
    return parts
  }
  const bind = async (): Promise<void> => {
    const call = ++calls
    socket.write(buildFragment({ kind: kinds.bind, call, body: buildBindBody(), first: true, last: true }))
    const [ack] = await readResponse()
    const bound = ack?.kind === kinds.bindAck ? readBindAck(ack.body) : undefined
    if (bound?.accepted !== true) throw protocolError('it does not take what we ask for')
    maxFragmentLength = bound.maxLength
  }
  try {
    await bind()
  } catch (cause) {
    socket.destroy()
    throw scmUnreachableError(pipe, signal, cause)
  }
  return {
    async call(procedure, stub) {
      for (const part of buildRequestFragments(++calls, procedure, stub, maxFragmentLength))
        socket.write(part)
      const parts = await readResponse()
      const fault = parts.find(({ kind }) => kind !== kinds.response)
      if (fault !== undefined) throw protocolError(`procedure ${procedure} ended with ${formatFault(fault)}`)
      return Buffer.concat(parts.map(({ body }) => body.subarray(8)))
    },
    [Symbol.dispose]: () => void socket.destroy(),
  }
}

/** Connects to a named pipe. An abort destroys the socket, which rejects pending reads. */
async function openPipe(path: string, signal: AbortSignal): Promise<Socket> {
  signal.throwIfAborted()
  const socket = connect({ path, signal })
  try {
    await once(socket, 'connect')
    // A socket error already rejects the pending call. Errors without a pending call are ignored.
    return socket.on('error', () => undefined)
  } catch (cause) {
    throw scmUnreachableError(path, signal, cause)
  }
}

/**
 * Creates the error for an unreachable Service Control Manager. The operation was not started, so the caller
 * may use another way.
 */
export function scmUnreachableError(pipe: string, signal: AbortSignal, cause: unknown): HyperkubeError {
  signal.throwIfAborted()
  return new HyperkubeError('SCM_UNREACHABLE', `the manager of services is not to be reached by ${pipe}`, {
    cause,
  })
}

async function* readFragments(socket: Socket): AsyncGenerator<Fragment> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of socket) {
    rest = Buffer.concat([rest, chunk])
    for (let found = readFragment(rest); found !== undefined; found = readFragment(rest)) {
      rest = found.rest
      yield found.fragment
    }
  }
}

function formatFault({ kind, body }: Fragment): string {
  return kind === kinds.fault && body.length >= 12 ? `0x${body.readUInt32LE(8).toString(16)}` : `kind ${kind}`
}

function protocolError(problem: string, cause?: unknown): HyperkubeError {
  const message = `the manager of services was not understood: ${problem}`
  return new HyperkubeError('SCM_INVALID_OUTPUT', message, cause === undefined ? {} : { cause })
}
