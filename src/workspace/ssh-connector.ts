import { dirname, join, resolve } from 'node:path'
import { formatFileFlag } from './cluster-paths.ts'
import type { WorkspaceContext, Operator } from './context.ts'
import type { Identity } from '../identity/identity.ts'
import { createSemaphore } from '../kit/concurrency.ts'
import type { Cluster } from '../spec/cluster.ts'
import type { HostSpec } from '../spec/host.ts'
import { openBastions } from '../ssh/bastions.ts'
import { connectBuiltIn } from '../ssh/built-in-ssh.ts'
import type { Hop } from '../ssh/hop.ts'
import { buildUnknownHostKeyError, type UnknownHostKey } from '../ssh/host-key-errors.ts'
import { HostKeyStore } from '../ssh/host-key-store.ts'
import { type KnownHostKeys, noKnownHostKeys } from '../ssh/known-hosts.ts'
import { createKnownHostsLookup } from '../ssh/known-hosts-files.ts'
import { createLocalRemote } from '../ssh/local-remote.ts'
import type { Remote } from '../ssh/remote.ts'
import { readSshConfig } from '../ssh/ssh-config.ts'
import { resolveSshRoute, type SshRoute } from '../ssh/ssh-route.ts'
import { connectWithSystemSsh } from '../ssh/system-ssh.ts'

export interface SshConnector {
  /** Connects to a host. Throws SSH_HOST_KEY_UNKNOWN if a key on the route has not been accepted yet. */
  connect(host: HostSpec, signal: AbortSignal): Promise<Remote>
  /**
   * Connects to hosts and returns the unknown keys of these hosts and their bastions. A host behind an
   * unknown bastion is found only after the bastion's key was accepted.
   */
  findUnknownKeys(hosts: readonly HostSpec[], signal: AbortSignal): Promise<readonly UnknownHostKey[]>
  close(): void
}

/**
 * Short keepalive for Windows hosts. They silently lose all connections when their first pod network is
 * created, and the keepalive detects the loss soon.
 */
const windowsKeepalive = { interval: 5000, count: 3 }

/**
 * Maximum number of logins at the same time. A login has a deadline and needs several milliseconds of
 * processor time. If thousands began at once, all of them would miss their deadlines.
 */
const maxLogins = 32

/** Opens ssh connections to hosts according to cluster.yml and the operator's ssh configuration. */
export async function openSshConnector(
  { user, home, sshAgent, findKnownHostKeys = createKnownHostsLookup() }: Operator,
  clusterFile: string,
  { spec }: Cluster,
  keys: HostKeyStore,
  acceptCommand = formatAcceptCommand(clusterFile),
): Promise<SshConnector> {
  const config = await readSshConfig(home)
  const directory = resolve(dirname(clusterFile))
  const bastions = openBastions()

  const findRoute = async (host: HostSpec): Promise<CheckedRoute> => {
    const route = resolveSshRoute(host, spec.ssh, config, { user, home, directory })
    const hops = [...route.bastions, route]
    const found = new Map(
      await Promise.all(hops.map(async (hop) => [hop.name, await findKnownHostKeys(hop)] as const)),
    )
    return { route, hops, known: ({ name }) => found.get(name) ?? noKnownHostKeys }
  }

  const runLimited = createSemaphore(maxLogins)
  const connect: SshConnector['connect'] = async (host, signal) => {
    if (host.local) return createLocalRemote(host.name)
    return runLimited(async () => logIn(host, signal))
  }

  const logIn: SshConnector['connect'] = async (host, signal) => {
    signal.throwIfAborted()
    const { route, known } = await findRoute(host)
    const client = host.ssh?.client ?? spec.ssh.client ?? 'builtin'
    const options = {
      signal,
      agent: sshAgent,
      verify: (key: string, hop: Hop) => {
        // A CA in the evidence makes the error suggest the system ssh client, which checks host certificates.
        // CAs are left out if the system client is already in use.
        const { cas, ...listed } = known(hop)
        const evidence = { ...listed, cas: client === 'system' ? [] : cas }
        if (keys.verify(key, hop, evidence) === 'known') return 'known' as const
        const unknown = keys.findUnknown(hop.name)
        throw buildUnknownHostKeyError(unknown === undefined ? [] : [unknown], acceptCommand)
      },
      pinned: (hop: Hop) => keys.pinned(hop, known(hop)),
      likely: (hop: Hop) => keys.likely(hop, known(hop)),
      hostCas: known,
    }
    const windows = { base: spec.windows.baseDirectory }
    const connectOptions =
      host.os === 'windows' ? { ...options, windows, keepalive: windowsKeepalive } : options
    return client === 'system'
      ? connectWithSystemSsh(route, { ...connectOptions, include: join(home, '.ssh/config') })
      : connectBuiltIn(route, { ...connectOptions, bastions })
  }

  return {
    connect,
    async findUnknownKeys(hosts, signal) {
      const attempts = hosts.map(async (host) => {
        if (host.local) return
        const { hops, known } = await findRoute(host)
        if (!hops.some((hop) => keys.needsOperator(hop, known(hop)))) return
        const remote = await connect(host, signal)
        await remote.close()
      })
      // Connection errors are dropped here. Unreachable hosts are reported when they are needed.
      await Promise.allSettled(attempts)
      signal.throwIfAborted()
      return keys.unknown
    },
    close: () => bastions.close(),
  }
}

interface CheckedRoute {
  readonly route: SshRoute
  /** All machines on the route. The host is the last one. */
  readonly hops: readonly Hop[]
  readonly known: (hop: Hop) => KnownHostKeys
}

/** Formats the command that shows unknown host keys and accepts them. `plan` changes nothing else. */
export function formatAcceptCommand(clusterFile: string): string {
  return `hyperkube plan --accept-new-host-keys${formatFileFlag(clusterFile)}`
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
