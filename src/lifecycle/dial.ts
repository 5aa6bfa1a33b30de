import { HyperkubeError } from '../kit/errors.ts'
import type { Dial } from '../kit/tunnel-agent.ts'
import type { Remote } from '../ssh/remote.ts'
import type { HostEndpoint } from './host-endpoints.ts'

/**
 * Opens connections to cluster components through the hosts they run on, so ssh access is enough. The ssh
 * connection is looked up for each dial, because it may have been replaced since.
 */
export function dialThroughHosts(
  endpoints: readonly HostEndpoint[],
  findRemote: (host: string) => Promise<Remote | undefined>,
): Dial {
  const hostAt = new Map(endpoints.map(({ host, address }) => [address, host]))
  return async (address, port, signal) => {
    const host = hostAt.get(address)
    const remote = host === undefined ? undefined : await findRemote(host)
    if (remote !== undefined) return remote.dial(address, port, { signal })
    throw new HyperkubeError(
      'SSH_UNREACHABLE',
      `there is no way to ${address}`,
      host === undefined ? {} : { host },
    )
  }
}
