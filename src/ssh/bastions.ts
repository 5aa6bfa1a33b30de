import { connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Client } from 'ssh2'
import { startDeadline, waitUnlessAborted } from './deadline.ts'
import type { Hop } from './hop.ts'
import {
  buildUnreachableError,
  buildUnsupportedSettingError,
  toUnreachableReason,
} from './connection-errors.ts'
import { logIn, type SshLink } from './login.ts'
import type { ConnectSettings } from './options.ts'
import { parseOpenFailure } from './transport.ts'

/**
 * Connections to bastions. All hosts behind a bastion share one connection, because sshd refuses many logins
 * at the same time.
 */
export interface Bastions {
  /** Opens a socket to a hop, which is the host or a further bastion, through the given bastions. */
  through(bastions: readonly Hop[], hop: Hop, settings: ConnectSettings): Promise<Duplex>
  close(): void
}

export function openBastions(): Bastions {
  const links = new Map<string, Promise<SshLink>>()
  const closed = new AbortController()

  const openLink = async (
    bastion: Hop,
    before: readonly Hop[],
    settings: ConnectSettings,
  ): Promise<SshLink> => {
    const key = JSON.stringify([...before, bastion])
    const existing = links.get(key)
    if (existing !== undefined) return existing
    // Other hosts may use the same connection, so the connection does not end when the signal of this host is
    // aborted.
    const shared = { ...settings, signal: closed.signal }
    const link = through(before, bastion, shared).then(async (socket) => logIn(bastion, socket, shared))
    links.set(key, link)
    const forget = (): unknown => links.get(key) === link && links.delete(key)
    link.then(({ lost }) => lost.addEventListener('abort', forget), forget)
    return link
  }

  const through: Bastions['through'] = async (bastions, hop, settings) => {
    const bastion = bastions.at(-1)
    if (bastion === undefined) {
      if (hop.programOnly !== undefined)
        throw buildUnsupportedSettingError(settings.host, hop, hop.programOnly)
      return connectTcp(hop, settings)
    }
    const { client } = await waitUnlessAborted<SshLink>([settings.signal], ({ succeed, fail }) => {
      openLink(bastion, bastions.slice(0, -1), settings).then(succeed, fail)
    })
    return forward(client, bastion, hop, settings)
  }

  return {
    through,
    close: () => {
      closed.abort(new Error('the bastions were closed'))
      for (const link of links.values()) link.then(({ client }) => client.end()).catch(() => undefined)
    },
  }
}

async function forward(client: Client, bastion: Hop, hop: Hop, settings: ConnectSettings): Promise<Duplex> {
  const { host, timeout, signal } = settings
  const deadline = startDeadline(signal, timeout, () =>
    buildUnreachableError(host, hop, { kind: 'no-response', after: timeout }),
  )
  try {
    return await waitUnlessAborted<Duplex>([deadline.signal], ({ succeed, fail }) => {
      const refuse = (error: Error): void => {
        const message = parseOpenFailure(error) ?? error.message
        fail(buildUnreachableError(host, hop, { kind: 'bastion', bastion: bastion.alias, message }))
      }
      try {
        client.forwardOut('127.0.0.1', 0, hop.address, hop.port, (error, channel) => {
          if (error !== undefined) refuse(error)
          else if (!succeed(channel)) channel.destroy()
        })
      } catch (error) {
        refuse(error instanceof Error ? error : new Error(String(error)))
      }
    })
  } finally {
    deadline.clear()
  }
}

/** Opens a TCP connection. Without noDelay, each small ssh packet would wait for the previous one. */
async function connectTcp(
  hop: Hop,
  { host, timeout, signal }: Pick<ConnectSettings, 'host' | 'timeout' | 'signal'>,
): Promise<Socket> {
  const limit = startDeadline(signal, timeout, () =>
    buildUnreachableError(host, hop, { kind: 'no-response', after: timeout }),
  )
  const socket = connect({
    host: hop.address,
    port: hop.port,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: 15_000,
  })
  try {
    return await waitUnlessAborted([limit.signal], ({ succeed, fail }) => {
      socket.once('connect', () => succeed(socket))
      // The listener stays attached, because an error event without a listener would crash the process.
      socket.on('error', (error) =>
        fail(buildUnreachableError(host, hop, toUnreachableReason(error, timeout))),
      )
    })
  } catch (error) {
    socket.destroy()
    throw error
  } finally {
    limit.clear()
  }
}
