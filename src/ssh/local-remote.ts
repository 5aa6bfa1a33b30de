import { connect } from 'node:net'
import { userInfo } from 'node:os'
import type { Duplex } from 'node:stream'
import { bound } from './destroy-on-abort.ts'
import { dialFailed, type Target } from './dial-errors.ts'
import { connectionLost } from './login-errors.ts'
import { processChannel } from './process-channel.ts'
import { remoteOver } from './create-remote.ts'
import type { Remote } from './remote.ts'
import { asError, unlessAborted } from './deadline.ts'

/** This machine itself, as a host: `local: true` in cluster.yml. */
export function localRemote(host: string): Remote {
  const closed = new AbortController()
  return remoteOver({
    host,
    user: userInfo().username,
    start: async (argv, signal) => {
      signal.throwIfAborted()
      return processChannel(argv)
    },
    dial: async (target, signal) => dial(host, target, [closed.signal, signal]),
    close: async () => closed.abort(connectionLost(host, 'it was closed')),
  })
}

async function dial(host: string, target: Target, signals: readonly AbortSignal[]): Promise<Duplex> {
  const socket = bound(connect({ host: target.address, port: target.port, noDelay: true }), signals)
  return unlessAborted<Duplex>(signals, ({ succeed, fail }) => {
    socket.once('connect', () => succeed(socket))
    socket.once('error', (error) => fail(dialFailed(host, target, asError(error).message)))
  })
}
