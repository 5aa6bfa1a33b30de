import { quote } from '../kit/shell.ts'
import { connectionLost } from './login-errors.ts'
import { processChannel } from './process-channel.ts'
import type { Reach } from './ssh-route.ts'
import { systemDial } from './system-dial.ts'
import { type Destination, type Master, plainWords } from './system-master.ts'
import type { Channel, SshTransport } from './transport.ts'

/** Programs on a host, each by an ssh program that shares the connection of the others. */
export function systemTransport(
  { name: host, user }: Reach,
  destination: Destination,
  master: Master,
  clear: () => Promise<void>,
): SshTransport {
  const { config, name } = destination
  const start = (words: readonly string[], signal: AbortSignal): Channel => {
    signal.throwIfAborted()
    master.lost.throwIfAborted()
    const channel = processChannel(['ssh', '-F', config, '-o', 'LogLevel=ERROR', ...words], plainWords())
    return withLoss(channel, master, host)
  }
  return {
    host,
    user,
    start: async (argv, signal) => start([name, argv.map(quote).join(' ')], signal),
    startLine: async (line, signal) => start([name, line], signal),
    subsystem: async (subsystem, signal) => start(['-s', name, subsystem], signal),
    dial: async (target, signal) => systemDial(host, destination, master, target, signal),
    close: async () => {
      await master.close()
      await clear()
    },
  }
}

/** 255 is the program's own end, or ssh's word for a connection that is gone. */
function withLoss(channel: Channel, master: Master, host: string): Channel {
  const ended = channel.ended.then(async (code) => {
    if (code !== 255 || (await master.isAlive())) return code
    master.lost.throwIfAborted()
    throw connectionLost(host, 'ssh has ended')
  })
  // Nobody may be waiting for it yet.
  ended.catch(() => undefined)
  return { ...channel, ended }
}
