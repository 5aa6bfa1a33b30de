import { connect } from 'node:net'
import { userInfo } from 'node:os'
import type { Duplex } from 'node:stream'
import { createRemote } from './create-remote.ts'
import { asError, waitUnlessAborted } from './deadline.ts'
import { buildConnectionLostError } from './connection-errors.ts'
import { startProcessChannel } from './process-channel.ts'
import type { Remote } from './remote.ts'
import { buildDialError, destroyOnAbort, type DialTarget } from './transport.ts'

/**
 * Creates a Remote for the machine that runs hyperkube, if this machine is itself a host (`local: true` in
 * cluster.yml).
 */
export function createLocalRemote(host: string): Remote {
  const closed = new AbortController()
  return createRemote({
    host,
    user: userInfo().username,
    start: async (argv, signal) => {
      signal.throwIfAborted()
      return startProcessChannel(argv)
    },
    dial: async (target, signal) => dial(host, target, [closed.signal, signal]),
    dialSocket: async (path, signal) => dialSocket(path, [closed.signal, signal]),
    close: async () => closed.abort(buildConnectionLostError(host, 'closed')),
  })
}

async function dial(host: string, target: DialTarget, signals: readonly AbortSignal[]): Promise<Duplex> {
  const socket = destroyOnAbort(connect({ host: target.address, port: target.port, noDelay: true }), signals)
  return waitUnlessAborted<Duplex>(signals, ({ succeed, fail }) => {
    socket.once('connect', () => succeed(socket))
    socket.once('error', (error) => fail(buildDialError(host, target, asError(error).message)))
  })
}

async function dialSocket(path: string, signals: readonly AbortSignal[]): Promise<Duplex | undefined> {
  const socket = destroyOnAbort(connect({ path }), signals)
  return waitUnlessAborted<Duplex | undefined>(signals, ({ succeed }) => {
    socket.once('connect', () => succeed(socket))
    socket.once('error', () => succeed(undefined))
  })
}
