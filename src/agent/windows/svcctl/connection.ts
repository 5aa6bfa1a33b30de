import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { HyperkubeError } from '../../../kit/errors.ts'
import {
  bindBody,
  type Fragment,
  fragment,
  kinds,
  readBindAck,
  readFragment,
  requestFragments,
} from './pdu.ts'

/** Where the manager of services listens on every Windows. */
export const managerPipe = String.raw`\\.\pipe\svcctl`

/** One conversation with the manager of services. One call after the other; the first that fails ends it. */
export interface Connection extends Disposable {
  readonly call: (procedure: number, stub: Buffer) => Promise<Buffer>
}

/** What belongs to one message is some ten kilobytes at most; whoever says more is not the manager. */
const longestAnswer = 2 ** 20

export async function connectManager(pipe: string, signal: AbortSignal): Promise<Connection> {
  const socket = await opened(pipe, signal)
  const fragments = received(socket)
  let calls = 0
  let longest = 0
  // Only one call is under way at a time, so that whatever comes belongs to it: Wine numbers all its answers alike.
  const answer = async (): Promise<Fragment[]> => {
    const parts: Fragment[] = []
    for (let size = 0; parts.at(-1)?.last !== true;) {
      const next = await fragments.next().catch((cause: unknown) => {
        signal.throwIfAborted()
        throw wrong('the connection broke', cause)
      })
      if (next.done === true) throw wrong('it ended in the middle of an answer')
      parts.push(next.value)
      size += next.value.body.length
      if (size > longestAnswer) throw wrong('its answer has no end')
    }
    return parts
  }
  const bind = async (): Promise<void> => {
    const call = ++calls
    socket.write(fragment({ kind: kinds.bind, call, body: bindBody(), first: true, last: true }))
    const [said] = await answer()
    const bound = said?.kind === kinds.bindAck ? readBindAck(said.body) : undefined
    if (bound?.accepted !== true) throw wrong('it does not take what we ask for')
    longest = bound.longest
  }
  try {
    await bind()
  } catch (cause) {
    socket.destroy()
    throw unreachable(pipe, signal, cause)
  }
  return {
    async call(procedure, stub) {
      for (const part of requestFragments(++calls, procedure, stub, longest)) socket.write(part)
      const parts = await answer()
      const fault = parts.find(({ kind }) => kind !== kinds.response)
      if (fault !== undefined) throw wrong(`procedure ${procedure} ended with ${faultOf(fault)}`)
      return Buffer.concat(parts.map(({ body }) => body.subarray(8)))
    },
    [Symbol.dispose]: () => void socket.destroy(),
  }
}

/** An abort ends the connection, and with it whoever waits. */
async function opened(path: string, signal: AbortSignal): Promise<Socket> {
  signal.throwIfAborted()
  const socket = connect({ path, signal })
  try {
    await once(socket, 'connect')
    // Whoever waits is told of it; whoever does not need not be.
    return socket.on('error', () => undefined)
  } catch (cause) {
    throw unreachable(path, signal, cause)
  }
}

/** Nothing was begun. */
export function unreachable(pipe: string, signal: AbortSignal, cause: unknown): HyperkubeError {
  signal.throwIfAborted()
  return new HyperkubeError('SCM_UNREACHABLE', `the manager of services is not to be reached by ${pipe}`, {
    cause,
  })
}

async function* received(socket: Socket): AsyncGenerator<Fragment> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of socket) {
    rest = Buffer.concat([rest, chunk])
    for (let found = readFragment(rest); found !== undefined; found = readFragment(rest)) {
      rest = found.rest
      yield found.fragment
    }
  }
}

function faultOf({ kind, body }: Fragment): string {
  return kind === kinds.fault && body.length >= 12 ? `0x${body.readUInt32LE(8).toString(16)}` : `kind ${kind}`
}

function wrong(what: string, cause?: unknown): HyperkubeError {
  const message = `the manager of services was not understood: ${what}`
  return new HyperkubeError('SCM_RUBBISH', message, cause === undefined ? {} : { cause })
}
