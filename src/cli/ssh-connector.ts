import { dirname, join, resolve } from 'node:path'
import type { HostKeys } from '../lifecycle/host-key-store.ts'
import type { Cluster } from '../spec/cluster.ts'
import type { Host } from '../spec/host.ts'
import { openBastions } from '../ssh/bastions.ts'
import { connect } from '../ssh/connect-built-in.ts'
import { localRemote } from '../ssh/local-remote.ts'
import { type Hop, resolveReach } from '../ssh/ssh-route.ts'
import { readSshConfig } from '../ssh/read-ssh-config.ts'
import type { Remote } from '../ssh/remote.ts'
import { systemSsh } from '../ssh/system-ssh.ts'
import type { Operator } from './command.ts'

export interface Ways {
  connect(host: Host, signal: AbortSignal): Promise<Remote>
  close(): void
}

/** A Windows host loses all connections when its first network is made, and nobody tells: that has to be noticed soon. */
const restless = { interval: 5000, count: 3 }

/** The ways to the hosts of a cluster, as its file and the operator's own ssh settings say. */
export async function openWays(
  { user, home, sshAgent }: Operator,
  clusterFile: string,
  { spec }: Cluster,
  keys: HostKeys,
): Promise<Ways> {
  const config = await readSshConfig(home)
  const directory = resolve(dirname(clusterFile))
  const bastions = openBastions()
  return {
    async connect(host, signal) {
      if (host.local) return localRemote(host.name)
      const reach = resolveReach(host, spec.ssh, config, { user, home, directory })
      const options = {
        signal,
        agent: sshAgent,
        verify: (key: string, hop: Hop) => keys.verify(key, hop),
        pinned: (hop: Hop) => keys.pinned(hop),
      }
      const windows = { base: spec.windows.baseDirectory }
      const wanted = host.os === 'windows' ? { ...options, windows, keepalive: restless } : options
      const client = host.ssh?.client ?? spec.ssh.client ?? 'builtin'
      return client === 'system'
        ? systemSsh(reach, { ...wanted, include: join(home, '.ssh/config') })
        : connect(reach, { ...wanted, bastions })
    },
    close: () => bastions.close(),
  }
}
