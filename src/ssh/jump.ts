import { HyperkubeError } from '../kit/errors.ts'
import { toPrintable } from '../kit/printable.ts'

/** A machine on the way to a host, as in ProxyJump. */
export interface Jump {
  readonly alias: string
  readonly user?: string | undefined
  readonly port?: number | undefined
}

/** Parses ProxyJump: a comma-separated list of [user@]host[:port] or ssh://[user@]host[:port]. */
export function parseJumps({ proxyJump }: { readonly proxyJump?: string | undefined }): readonly Jump[] {
  if (proxyJump === undefined || proxyJump.toLowerCase() === 'none') return []
  return proxyJump.split(',').map((text) => parseJump(text.trim()))
}

function parseJump(text: string): Jump {
  const plain = text.replace(/^ssh:\/\//, '').replace(/\/$/, '')
  const { user, bracketed, name, port } = form.exec(plain)?.groups ?? {}
  const alias = bracketed ?? name
  if (alias === undefined) {
    const message = `ProxyJump in ~/.ssh/config has a host that cannot be read: "${toPrintable(text)}"`
    throw new HyperkubeError('SSH_CONFIG_NOT_READ', message, {
      hint: 'write it as user@host:port, an IPv6 address in brackets',
    })
  }
  return {
    alias,
    ...(user === undefined ? {} : { user }),
    ...(port === undefined ? {} : { port: Number(port) }),
  }
}

/** Pattern of one jump. An IPv6 address without brackets cannot have a port. */
const form =
  /^(?:(?<user>[^@]+)@)?(?:\[(?<bracketed>[0-9a-fA-F:.%]+)\]|(?<name>[^\s@:[\]]+|[0-9a-fA-F]*:[0-9a-fA-F:.]*:[0-9a-fA-F:.]*))(?::(?<port>\d{1,5}))?$/
