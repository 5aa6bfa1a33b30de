import { formatHostPort } from '../kit/host-port.ts'
import type { Duplex } from 'node:stream'
import { watchLines } from '../kit/lines.ts'
import { quoteShell } from '../kit/text.ts'
import { Tunnel } from '../kit/tunnel.ts'
import { buildConnectionLostError } from './connection-errors.ts'
import { waitUnlessAborted } from './deadline.ts'
import { startProcessChannel } from './process-channel.ts'
import type { SshRoute } from './ssh-route.ts'
import { englishEnvironment, type SshMaster, type SystemDestination } from './system-master.ts'
import {
  buildDialError,
  type Channel,
  destroyOnAbort,
  type DialTarget,
  type SshTransport,
} from './transport.ts'

/** Creates a transport that runs each program with its own ssh process over the shared connection. */
export function createSystemTransport(
  { name: host, user }: SshRoute,
  destination: SystemDestination,
  master: SshMaster,
  clear: () => Promise<void>,
): SshTransport {
  const { config, name } = destination
  const start = (args: readonly string[], signal: AbortSignal): Channel => {
    signal.throwIfAborted()
    master.lost.throwIfAborted()
    const channel = startProcessChannel(
      ['ssh', '-F', config, '-o', 'LogLevel=ERROR', ...args],
      englishEnvironment(),
    )
    return withLossDetection(channel, master, host)
  }
  return {
    host,
    user,
    start: async (argv, signal) => start([name, argv.map(quoteShell).join(' ')], signal),
    startLine: async (line, signal) => start([name, line], signal),
    subsystem: async (subsystem, signal) => start(['-s', name, subsystem], signal),
    dial: async (target, signal) => systemDial(host, destination, master, target, signal),
    close: async () => {
      await master.close()
      await clear()
    },
  }
}

/**
 * Makes `ended` reject if the connection was lost. ssh exits with 255 in this case. A remote program may also
 * exit with 255, so the shared connection is checked.
 */
function withLossDetection(channel: Channel, master: SshMaster, host: string): Channel {
  const ended = channel.ended.then(async (code) => {
    if (code !== 255 || (await master.isAlive())) return code
    master.lost.throwIfAborted()
    throw buildConnectionLostError(host, 'the ssh process has ended')
  })
  // Prevents an unhandled rejection if the caller awaits `ended` later.
  ended.catch(() => undefined)
  return { ...channel, ended }
}

/** Opens a connection from the host with `ssh -W`. Input and output of this ssh process become the stream. */
async function systemDial(
  host: string,
  { config, name }: SystemDestination,
  master: SshMaster,
  target: DialTarget,
  signal: AbortSignal,
): Promise<Duplex> {
  signal.throwIfAborted()
  master.lost.throwIfAborted()
  const { address, port } = target
  const endpoint = formatHostPort(address, port)
  // ssh reports an open connection only at debug level. ProxyCommand=false prevents a new login if the shared
  // connection is lost.
  const settings = ['-o', 'LogLevel=DEBUG1', '-o', 'ProxyCommand=false']
  const channel = startProcessChannel(
    ['ssh', '-F', config, ...settings, '-W', endpoint, name],
    englishEnvironment(),
  )
  try {
    await waitUnlessAborted<void>([master.lost, signal], ({ succeed, fail }) => {
      let isOpen = false
      watchLines(channel.stderr, (line) => {
        if (line.includes('master session id')) isOpen = succeed()
      })
      const refuse = async (): Promise<void> => {
        if (isOpen) return
        if (await master.isAlive())
          fail(buildDialError(host, target, master.refusal() ?? 'ssh reports no reason'))
        else fail(buildConnectionLostError(host, 'the ssh process has ended'))
      }
      channel.ended.then(refuse).catch(fail)
    })
  } catch (error) {
    channel.kill(error)
    throw error
  }
  const { stdout, stdin, kill } = channel
  return destroyOnAbort(new Tunnel(async () => ({ readable: stdout, writable: stdin, close: kill })), [
    master.lost,
    signal,
  ])
}
