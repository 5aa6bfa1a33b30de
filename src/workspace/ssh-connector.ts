import { dirname, join, resolve } from 'node:path'
import type { WorkspaceContext, Operator } from './context.ts'
import type { Identity } from '../identity/identity.ts'
import type { Cluster } from '../spec/cluster.ts'
import type { HostSpec } from '../spec/host.ts'
import { openBastions } from '../ssh/bastions.ts'
import { connectBuiltIn } from '../ssh/built-in-ssh.ts'
import type { Hop } from '../ssh/hop.ts'
import { HostKeyStore } from '../ssh/host-key-store.ts'
import { createLocalRemote } from '../ssh/local-remote.ts'
import type { Remote } from '../ssh/remote.ts'
import { readSshConfig } from '../ssh/ssh-config.ts'
import { resolveSshRoute } from '../ssh/ssh-route.ts'
import { connectWithSystemSsh } from '../ssh/system-ssh.ts'

export interface SshConnector {
  connect(host: HostSpec, signal: AbortSignal): Promise<Remote>
  close(): void
}

/**
 * Short keepalive for Windows hosts. They silently lose all connections when their first pod network is
 * created, and the keepalive detects the loss soon.
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

/**
 * One ssh connection per host, for commands that only read. For an unreachable host, `findRemote` rejects.
 */
interface OpenRemotes extends AsyncDisposable {
  readonly findRemote: (host: string) => Promise<Remote>
}

/** Connects to hosts in parallel. */
export async function openRemotes(
  { operator, signal }: Pick<WorkspaceContext, 'operator' | 'signal'>,
  clusterFile: string,
  cluster: Cluster,
  identity: Identity,
  hosts: readonly HostSpec[] = cluster.spec.hosts,
): Promise<OpenRemotes> {
  const connector = await openSshConnector(operator, clusterFile, cluster, new HostKeyStore(identity))
  const remotes = new Map(hosts.map((host) => [host.name, connector.connect(host, signal)] as const))
  // Callers get the error when they use the connection. A failed connection that is not used must not end the
  // process.
  for (const remote of remotes.values()) remote.catch(() => undefined)
  return {
    async findRemote(host) {
      const remote = remotes.get(host)
      if (remote === undefined) throw new Error(`there is no connection to ${host}`)
      return remote
    },
    async [Symbol.asyncDispose]() {
      await Promise.allSettled([...remotes.values()].map(async (remote) => (await remote).close()))
      connector.close()
    },
  }
}
