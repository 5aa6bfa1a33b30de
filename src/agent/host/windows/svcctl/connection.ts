import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { HyperkubeError } from '../../../../kit/errors.ts'

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
        throw protocolError('the connection failed', cause)
      })
      if (next.done === true) throw protocolError('the connection closed within a response')
      parts.push(next.value)
      size += next.value.body.length
      if (size > maxResponseBytes) throw protocolError('the response is too long')
    }
    return parts
  }
  const bind = async (): Promise<void> => {
    const call = ++calls
    socket.write(buildFragment({ kind: kinds.bind, call, body: buildBindBody(), first: true, last: true }))
    const [ack] = await readResponse()
    const bound = ack?.kind === kinds.bindAck ? readBindAck(ack.body) : undefined
    if (bound?.accepted !== true) throw protocolError('it rejected the interface')
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
 * may try another implementation.
 */
export function scmUnreachableError(pipe: string, signal: AbortSignal, cause: unknown): HyperkubeError {
  signal.throwIfAborted()
  return new HyperkubeError('SCM_UNREACHABLE', `cannot reach the Service Control Manager at ${pipe}`, {
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
  const message = `invalid response of the Service Control Manager: ${problem}`
  return new HyperkubeError('SCM_INVALID_OUTPUT', message, cause === undefined ? {} : { cause })
}

/**
 * Length of a PDU header in connection-oriented DCE RPC 1.1. A message may have several fragments; each
 * header contains the length of its fragment.
 */
const headerLength = 16

export const kinds = { request: 0, response: 2, fault: 3, bind: 11, bindAck: 12, bindNak: 13 } as const

export interface Fragment {
  readonly kind: number
  readonly last: boolean
  readonly call: number
  readonly body: Buffer
}

const firstFlag = 1
const lastFlag = 2
/** Data representation: little-endian integers, ASCII characters, IEEE floating point. */
const representation = 0x10
/** Maximum fragment length that this client announces. */
const maxFragmentLength = 4280

/** UUID and version of the interface of the Service Control Manager, from [MS-SCMR] 1.9. */
const svcctl = { id: '81bb7a364498f135ad3298f038001003', version: 2 }
const ndr = { id: '045d888aeb1cc9119fe808002b104860', version: 2 }

export function buildFragment({
  kind,
  call,
  body,
  first,
  last,
}: Fragment & { readonly first: boolean }): Buffer {
  const bytes = Buffer.alloc(headerLength + body.length)
  bytes.set([5, 0, kind, (first ? firstFlag : 0) | (last ? lastFlag : 0), representation])
  bytes.writeUInt16LE(bytes.length, 8)
  bytes.writeUInt32LE(call, 12)
  bytes.set(body, headerLength)
  return bytes
}

/** Returns the first fragment and the bytes after it, or undefined while the fragment is incomplete. */
export function readFragment(
  bytes: Buffer,
): { readonly fragment: Fragment; readonly rest: Buffer } | undefined {
  if (bytes.length < headerLength) return undefined
  const length = bytes.readUInt16LE(8)
  if (bytes[0] !== 5 || bytes[4] !== representation || length < headerLength)
    throw new RangeError('the header of the response is invalid')
  if (bytes.length < length) return undefined
  return {
    fragment: {
      kind: bytes.readUInt8(2),
      last: (bytes.readUInt8(3) & lastFlag) !== 0,
      call: bytes.readUInt32LE(12),
      body: bytes.subarray(headerLength, length),
    },
    rest: bytes.subarray(length),
  }
}

function buildBindBody(): Buffer {
  const bytes = Buffer.alloc(56)
  bytes.writeUInt16LE(maxFragmentLength, 0)
  bytes.writeUInt16LE(maxFragmentLength, 2)
  // One presentation context, number 0, with one transfer syntax.
  bytes.writeUInt8(1, 8)
  bytes.writeUInt8(1, 14)
  bytes.set(Buffer.from(svcctl.id, 'hex'), 16)
  bytes.writeUInt32LE(svcctl.version, 32)
  bytes.set(Buffer.from(ndr.id, 'hex'), 36)
  bytes.writeUInt32LE(ndr.version, 52)
  return bytes
}

/** Returns whether the server accepted the presentation context, and its maximum fragment length. */
function readBindAck(body: Buffer): { readonly accepted: boolean; readonly maxLength: number } {
  // The results begin after the secondary address, which is ignored, at the next multiple of four.
  const results = 4 * Math.ceil((10 + body.readUInt16LE(8)) / 4)
  return { accepted: body.readUInt16LE(results + 4) === 0, maxLength: body.readUInt16LE(2) }
}

/** Splits a request into fragments of at most `maxLength` bytes. */
function buildRequestFragments(call: number, procedure: number, stub: Buffer, maxLength: number): Buffer[] {
  const capacity = maxLength - headerLength - 8
  const count = Math.max(1, Math.ceil(stub.length / capacity))
  return Array.from({ length: count }, (_, index) => {
    const part = stub.subarray(index * capacity, (index + 1) * capacity)
    const head = Buffer.alloc(8)
    head.writeUInt32LE(stub.length - index * capacity, 0)
    head.writeUInt16LE(procedure, 6)
    const body = Buffer.concat([head, part])
    return buildFragment({ kind: kinds.request, call, body, first: index === 0, last: index === count - 1 })
  })
}
