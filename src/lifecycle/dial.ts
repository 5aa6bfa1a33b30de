import { HyperkubeError } from '../kit/errors.ts'
import type { Dial } from '../kit/tunnel-agent.ts'
import type { Remote } from '../ssh/remote.ts'
import type { Place } from './host-endpoints.ts'

/**
 * Connections to the programs of a cluster, made by the hosts that they run on: whoever reaches hosts by ssh needs no other
 * way to them. The remote of a host is looked up for each connection, as it may have been lost and found again.
 */
export function dialThrough(
  places: readonly Place[],
  remoteOf: (host: string) => Promise<Remote | undefined>,
): Dial {
  const hostAt = new Map(places.map(({ host, address }) => [address, host]))
  return async (address, port, signal) => {
    const host = hostAt.get(address)
    const remote = host === undefined ? undefined : await remoteOf(host)
    if (remote !== undefined) return remote.dial(address, port, { signal })
    throw new HyperkubeError(
      'SSH_UNREACHABLE',
      `there is no way to ${address}`,
      host === undefined ? {} : { host },
    )
  }
}
