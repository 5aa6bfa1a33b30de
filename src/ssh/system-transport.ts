import { quoteShell } from '../kit/shell.ts'
import { buildConnectionLostError } from './login-errors.ts'
import { startProcessChannel } from './process-channel.ts'
import type { SshRoute } from './ssh-route.ts'
import { systemDial } from './system-dial.ts'
import { type SystemDestination, type SshMaster, englishEnvironment } from './system-master.ts'
import type { Channel, SshTransport } from './transport.ts'

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
 * Makes `ended` reject if the connection was lost. ssh exits with 255 in this case, but a remote program may
 * do so, too.
 */
function withLossDetection(channel: Channel, master: SshMaster, host: string): Channel {
  const ended = channel.ended.then(async (code) => {
    if (code !== 255 || (await master.isAlive())) return code
    master.lost.throwIfAborted()
    throw buildConnectionLostError(host, 'ssh has ended')
  })
  // Prevents an unhandled rejection if the caller awaits `ended` later.
  ended.catch(() => undefined)
  return { ...channel, ended }
}
