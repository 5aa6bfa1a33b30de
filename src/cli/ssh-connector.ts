import { dirname, join, resolve } from 'node:path'
import type { HostKeyStore } from '../lifecycle/host-key-store.ts'
import type { Cluster } from '../spec/cluster.ts'
import type { HostSpec } from '../spec/host.ts'
import { openBastions } from '../ssh/bastions.ts'
import { connectBuiltIn } from '../ssh/connect-built-in.ts'
import { createLocalRemote } from '../ssh/local-remote.ts'
import { resolveSshRoute } from '../ssh/ssh-route.ts'
import type { Hop } from '../ssh/hop.ts'
import { readSshConfig } from '../ssh/read-ssh-config.ts'
import type { Remote } from '../ssh/remote.ts'
import { connectWithSystemSsh } from '../ssh/system-ssh.ts'
import type { Operator } from './command.ts'

export interface SshConnector {
  connect(host: HostSpec, signal: AbortSignal): Promise<Remote>
  close(): void
}

/**
 * Short keepalive for Windows hosts. They silently lose all connections when their first pod network is
 * created, and this detects the loss soon.
 */
const windowsKeepalive = { interval: 5000, count: 3 }

/** Opens ssh connections to hosts according to cluster.yml and the operator's ssh configuration. */
export async function openSshConnector(
  { user, home, sshAgent }: Operator,
  clusterFile: string,
  { spec }: Cluster,
  keys: HostKeyStore,
): Promise<SshConnector> {
  const config = await readSshConfig(home)
  const directory = resolve(dirname(clusterFile))
  const bastions = openBastions()
  return {
    async connect(host, signal) {
      if (host.local) return createLocalRemote(host.name)
      const reach = resolveSshRoute(host, spec.ssh, config, { user, home, directory })
      const options = {
        signal,
        agent: sshAgent,
        verify: (key: string, hop: Hop) => keys.verify(key, hop),
        pinned: (hop: Hop) => keys.pinned(hop),
      }
      const windows = { base: spec.windows.baseDirectory }
      const connectOptions =
        host.os === 'windows' ? { ...options, windows, keepalive: windowsKeepalive } : options
      const client = host.ssh?.client ?? spec.ssh.client ?? 'builtin'
      return client === 'system'
        ? connectWithSystemSsh(reach, { ...connectOptions, include: join(home, '.ssh/config') })
        : connectBuiltIn(reach, { ...connectOptions, bastions })
    },
    close: () => bastions.close(),
  }
}
