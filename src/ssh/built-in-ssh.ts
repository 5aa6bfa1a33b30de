import { constants } from 'node:os'
import { Duplex } from 'node:stream'
import type { Client, ClientCallback, ClientChannel } from 'ssh2'
import { formatError, HyperkubeError } from '../kit/errors.ts'
import { quoteShell, toPrintable } from '../kit/text.ts'
import { Tunnel } from '../kit/tunnel.ts'
import { type Bastions, openBastions } from './bastions.ts'
import { buildConnectionLostError } from './connection-errors.ts'
import { createRemote } from './create-remote.ts'
import { asError, waitUnlessAborted } from './deadline.ts'
import type { Hop } from './hop.ts'
import { logIn, type SshLink } from './login.ts'
import { type ConnectOptions, resolveConnectSettings } from './options.ts'
import type { Remote } from './remote.ts'
import type { SshRoute } from './ssh-route.ts'
import {
  buildDialError,
  type Channel,
  destroyOnAbort,
  type DialTarget,
  parseOpenFailure,
  type SshTransport,
} from './transport.ts'
import { createWindowsRemote } from './windows/windows-remote.ts'

export interface BuiltInConnectOptions extends ConnectOptions {
  /** Shared bastion connections. The caller closes them. */
  readonly bastions?: Bastions
}

/**
 * Connects to a host with the built-in ssh client, which works without an ssh program on the operator's
 * machine.
 */
export async function connectBuiltIn(reach: SshRoute, options: BuiltInConnectOptions): Promise<Remote> {
  const settings = resolveConnectSettings(reach.name, options)
  const bastions = options.bastions ?? openBastions()
  const release = (): void => {
    if (options.bastions === undefined) bastions.close()
  }
  try {
    const socket = await bastions.through(reach.bastions, reach, settings)
    const link = await logIn(reach, socket, settings)
    const transport = createBuiltInTransport(link, reach, release)
    return options.windows === undefined
      ? createRemote(transport)
      : createWindowsRemote(transport, options.windows)
  } catch (error) {
    release()
    throw error
  }
}

/** Creates a transport over a connection of the built-in ssh client. */
function createBuiltInTransport(link: SshLink, { name, user }: Hop, release: () => void): SshTransport {
  const startLine: SshTransport['startLine'] = async (line, signal) =>
    start(link, name, (client, begun) => client.exec(line, begun), signal)
  return {
    host: name,
    user,
    start: async (argv, signal) => startLine(argv.map(quoteShell).join(' '), signal),
    startLine,
    subsystem: async (subsystem, signal) =>
      start(link, name, (client, begun) => client.subsys(subsystem, begun), signal),
    dial: async (target, signal) => dial(link, name, target, signal),
    dialSocket: async (path, signal) => dialSocket(link, name, path, signal),
    close: async () => {
      await close(link)
      release()
    },
  }
}

async function start(
  { client, lost }: SshLink,
  host: string,
  begin: (client: Client, begun: ClientCallback) => unknown,
  signal: AbortSignal,
): Promise<Channel> {
  return waitUnlessAborted<Channel>([lost, signal], ({ succeed, fail }) => {
    try {
      begin(client, (error, channel) => {
        if (error !== undefined) fail(buildSessionRefusedError(host, error))
        // The channel is created synchronously. Otherwise the end of a fast program could be missed.
        else if (!succeed(createChannel(channel, lost, host))) channel.close()
      })
    } catch (error) {
      fail(buildConnectionLostError(host, formatError(error)))
    }
  })
}

async function dial(link: SshLink, host: string, target: DialTarget, signal: AbortSignal): Promise<Duplex> {
  const opened = await openTunnel(
    link,
    host,
    (client, done) => client.forwardOut('127.0.0.1', 0, target.address, target.port, done),
    signal,
  )
  if (opened instanceof Duplex) return opened
  throw buildDialError(host, target, opened.refusal)
}

async function dialSocket(
  link: SshLink,
  host: string,
  path: string,
  signal: AbortSignal,
): Promise<Duplex | undefined> {
  const opened = await openTunnel(
    link,
    host,
    (client, done) => client.openssh_forwardOutStreamLocal(path, done),
    signal,
  )
  return opened instanceof Duplex ? opened : undefined
}

/** Reason why the host did not open a channel, worded like the messages of the ssh program. */
interface ChannelRefusal {
  readonly refusal: string
}

async function openTunnel(
  { client, lost }: SshLink,
  host: string,
  begin: (client: Client, done: ClientCallback) => unknown,
  signal: AbortSignal,
): Promise<Duplex | ChannelRefusal> {
  return waitUnlessAborted<Duplex | ChannelRefusal>([lost, signal], ({ succeed, fail }) => {
    const explain = (error: Error): void => {
      const refusal = parseOpenFailure(error)
      if (refusal === undefined) fail(buildConnectionLostError(host, error.message))
      else succeed({ refusal })
    }
    try {
      begin(client, (error, channel) => {
        if (error !== undefined) explain(error)
        else if (!succeed(createTunnel(channel, [lost, signal]))) channel.destroy()
      })
    } catch (error) {
      explain(asError(error))
    }
  })
}

/**
 * Wraps the library's stream in a stream that reports errors and that can be destroyed at once. The library's
 * stream reports no errors, and waits until the host confirms that the channel is closed.
 */
function createTunnel(channel: ClientChannel, signals: readonly AbortSignal[]): Duplex {
  const ends = { readable: channel, writable: channel, close: () => channel.destroy() }
  return destroyOnAbort(new Tunnel(async () => ends), signals)
}

function createChannel(channel: ClientChannel, lost: AbortSignal, host: string): Channel {
  const killed = new AbortController()
  const ended = waitUnlessAborted<number>([lost, killed.signal], ({ succeed, fail }) => {
    let code: number | undefined
    channel.on(
      'exit',
      (status: number | null, signal?: string) => (code = status ?? toSignalExitCode(signal)),
    )
    channel.on('close', () =>
      code === undefined
        ? fail(buildConnectionLostError(host, 'the exit code of the program is unknown'))
        : succeed(code),
    )
  })
  // Prevents an unhandled rejection if the caller awaits `ended` later.
  ended.catch(() => undefined)
  channel.on('error', () => undefined)
  const kill = (reason: unknown): void => {
    killed.abort(reason)
    // sshd delivers the signal only if the user is not root, and only before the end of input. Otherwise the
    // program only finds its input and output closed.
    channel.signal('TERM')
    channel.close()
  }
  return { stdin: channel, stdout: channel, stderr: channel.stderr, ended, kill }
}

/** Returns the exit code of a program that a signal ended, as in a shell. */
function toSignalExitCode(signal: string | undefined): number {
  const known: Readonly<Record<string, number>> = constants.signals
  return 128 + (known[signal ?? ''] ?? 0)
}

async function close({ client, lost }: SshLink): Promise<void> {
  if (lost.aborted) return
  const closed = new Promise<void>((resolve) => {
    lost.addEventListener('abort', () => resolve(), { once: true })
  })
  client.end()
  const forceTimer = setTimeout(() => client.destroy(), 1000)
  await closed
  clearTimeout(forceTimer)
}

function buildSessionRefusedError(host: string, error: Error): HyperkubeError {
  const message = `sshd refuses another session: ${toPrintable(error.message)}`
  return new HyperkubeError('SSH_SESSION_REFUSED', message, {
    host,
    hint: 'on the host: check MaxSessions in sshd_config, and journalctl -u ssh -u sshd',
  })
}
