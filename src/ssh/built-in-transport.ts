import { constants } from 'node:os'
import type { Duplex } from 'node:stream'
import type { Client, ClientCallback, ClientChannel } from 'ssh2'
import { describe, HyperkubeError } from '../kit/errors.ts'
import { printable } from '../kit/printable.ts'
import { quote } from '../kit/shell.ts'
import { Tunnel } from '../kit/tunnel.ts'
import { bound } from './destroy-on-abort.ts'
import { dialFailed, openFailure, type Target } from './dial-errors.ts'
import type { Link } from './login.ts'
import { connectionLost } from './login-errors.ts'
import type { Hop } from './ssh-route.ts'
import type { Channel, SshTransport } from './transport.ts'
import { asError, unlessAborted } from './deadline.ts'

/** Programs and connections of a host, over a connection of our own. */
export function linkTransport(link: Link, { name, user }: Hop, release: () => void): SshTransport {
  const startLine: SshTransport['startLine'] = async (line, signal) =>
    start(link, name, (client, begun) => client.exec(line, begun), signal)
  return {
    host: name,
    user,
    start: async (argv, signal) => startLine(argv.map(quote).join(' '), signal),
    startLine,
    subsystem: async (subsystem, signal) =>
      start(link, name, (client, begun) => client.subsys(subsystem, begun), signal),
    dial: async (target, signal) => dial(link, name, target, signal),
    close: async () => {
      await close(link)
      release()
    },
  }
}

async function start(
  { client, lost }: Link,
  host: string,
  begin: (client: Client, begun: ClientCallback) => unknown,
  signal: AbortSignal,
): Promise<Channel> {
  return unlessAborted<Channel>([lost, signal], ({ succeed, fail }) => {
    try {
      begin(client, (error, channel) => {
        if (error !== undefined) fail(sessionRefused(host, error))
        // At once: a program that is done in no time has its end in the same packet.
        else if (!succeed(channelOf(channel, lost, host))) channel.close()
      })
    } catch (error) {
      fail(connectionLost(host, describe(error)))
    }
  })
}

async function dial(
  { client, lost }: Link,
  host: string,
  target: Target,
  signal: AbortSignal,
): Promise<Duplex> {
  return unlessAborted<Duplex>([lost, signal], ({ succeed, fail }) => {
    const refuse = (error: Error): void => {
      const words = openFailure(error)
      fail(words === undefined ? connectionLost(host, error.message) : dialFailed(host, target, words))
    }
    try {
      client.forwardOut('127.0.0.1', 0, target.address, target.port, (error, channel) => {
        if (error !== undefined) refuse(error)
        else if (!succeed(tunnelOf(channel, [lost, signal]))) channel.destroy()
      })
    } catch (error) {
      refuse(asError(error))
    }
  })
}

/** The library's own stream tells no errors, and is not destroyed before the host says so. */
function tunnelOf(channel: ClientChannel, signals: readonly AbortSignal[]): Duplex {
  const ends = { readable: channel, writable: channel, close: () => channel.destroy() }
  return bound(new Tunnel(async () => ends), signals)
}

function channelOf(channel: ClientChannel, lost: AbortSignal, host: string): Channel {
  const killed = new AbortController()
  const ended = unlessAborted<number>([lost, killed.signal], ({ succeed, fail }) => {
    let code: number | undefined
    channel.on('exit', (status: number | null, signal?: string) => (code = status ?? deathBy(signal)))
    channel.on('close', () =>
      code === undefined ? fail(connectionLost(host, 'how the program ended was not told')) : succeed(code),
    )
  })
  // Nobody may be waiting for it yet.
  ended.catch(() => undefined)
  channel.on('error', () => undefined)
  const kill = (reason: unknown): void => {
    killed.abort(reason)
    // sshd passes it on for nobody but plain users, and only before the end of the input: what else runs, finds its input
    // and output closed.
    channel.signal('TERM')
    channel.close()
  }
  return { stdin: channel, stdout: channel, stderr: channel.stderr, ended, kill }
}

/** As a shell counts. */
function deathBy(signal: string | undefined): number {
  const known: Readonly<Record<string, number>> = constants.signals
  return 128 + (known[signal ?? ''] ?? 0)
}

async function close({ client, lost }: Link): Promise<void> {
  if (lost.aborted) return
  const gone = new Promise<void>((resolve) => {
    lost.addEventListener('abort', () => resolve(), { once: true })
  })
  client.end()
  const late = setTimeout(() => client.destroy(), 1000)
  await gone
  clearTimeout(late)
}

function sessionRefused(host: string, error: Error): HyperkubeError {
  const message = `the host starts no further program: ${printable(error.message)}`
  return new HyperkubeError('SSH_SESSION_REFUSED', message, {
    host,
    hint: 'look at MaxSessions in its sshd_config, and at journalctl -u ssh -u sshd',
  })
}
