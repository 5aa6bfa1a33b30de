import type { Duplex } from 'node:stream'
import type { Client } from 'ssh2'
import { openFailure } from './dial-errors.ts'
import { type Link, logIn } from './login.ts'
import { programOnly } from './login-errors.ts'
import type { Settings } from './options.ts'
import type { Hop } from './ssh-route.ts'
import { connectTcp } from './tcp.ts'
import { unreachable } from './unreachable-error.ts'
import { expiring, unlessAborted } from './deadline.ts'

/** Connections to bastions, each of which all hosts behind it share: sshd refuses many logins at once. */
export interface Bastions {
  /** A socket to a machine, through others. */
  through(bastions: readonly Hop[], hop: Hop, settings: Settings): Promise<Duplex>
  close(): void
}

export function openBastions(): Bastions {
  const links = new Map<string, Promise<Link>>()
  const closed = new AbortController()

  const linkTo = async (bastion: Hop, before: readonly Hop[], settings: Settings): Promise<Link> => {
    const key = JSON.stringify([...before, bastion])
    const known = links.get(key)
    if (known !== undefined) return known
    // Others may wait for it too: that one of them gives up must not end it.
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
      if (hop.programOnly !== undefined) throw programOnly(settings.host, hop, hop.programOnly)
      return connectTcp(hop, settings)
    }
    const { client } = await unlessAborted<Link>([settings.signal], ({ succeed, fail }) => {
      linkTo(bastion, bastions.slice(0, -1), settings).then(succeed, fail)
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

async function forward(client: Client, bastion: Hop, hop: Hop, settings: Settings): Promise<Duplex> {
  const { host, timeout, signal } = settings
  const limit = expiring(signal, timeout, () => unreachable(host, hop, { kind: 'no-answer', after: timeout }))
  try {
    return await unlessAborted<Duplex>([limit.signal], ({ succeed, fail }) => {
      const refuse = (error: Error): void => {
        const words = openFailure(error) ?? error.message
        fail(unreachable(host, hop, { kind: 'bastion', bastion: bastion.alias, words }))
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
    limit.clear()
  }
}
