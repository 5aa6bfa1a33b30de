import { formatHostPort } from '../kit/host-port.ts'
import { apiServerTlsName } from '../contract/api-server-name.ts'
import { EtcdClient } from '../etcd/client.ts'
import { type AdoptionSource, createIdentity, type Identity } from '../identity/identity.ts'
import { type ExistingKeys, importIdentity } from '../identity/import-identity.ts'
import { settleAll } from '../kit/concurrency.ts'
import { formatError, HyperkubeError } from '../kit/errors.ts'
import type { Dial } from '../kit/tunnel.ts'
import { KubeClient } from '../kube/client.ts'
import { parseKubeconfig } from '../kube/kubeconfig.ts'
import { readExistingKeys, readFingerprint } from '../lifecycle/adoption/existing-keys.ts'
import {
  type AdoptedHost,
  type AdoptionObservation,
  findComponent,
  listAdoptedControlPlanes,
  type UnreadableHost,
} from '../lifecycle/adoption/observation.ts'
import { readAdoptedApi } from '../lifecycle/adoption/read-api.ts'
import { toHostPath } from '../lifecycle/adoption/read-components.ts'
import { readAdoptedEtcd } from '../lifecycle/adoption/read-etcd.ts'
import { readAdoptedHost } from '../lifecycle/adoption/read-host.ts'
import { readRemoteFile } from '../lifecycle/adoption/remote-file.ts'
import { clusterApiVersion, clusterSchema } from '../spec/cluster.ts'
import type { HostSpec } from '../spec/host.ts'
import { HostKeyStore } from '../ssh/host-key-store.ts'
import type { Remote } from '../ssh/remote.ts'
import type { WorkspaceContext } from '../workspace/context.ts'
import { openSshConnector } from '../workspace/ssh-connector.ts'
import { acceptHostKeys } from './phases/accept-host-keys.ts'
import type { ActionRun } from './phases/action-run.ts'

/** The cluster to read, and how its hosts are reached. */
export interface AdoptionTarget {
  readonly from: AdoptionSource
  /** Name of the cluster, if the other tool's file has one. */
  readonly name?: string
  /** Linux hosts. */
  readonly hosts: readonly TargetHost[]
  readonly windowsHosts: readonly string[]
  readonly ssh: HostSpec['ssh']
  /** Text and path of an administrator's kubeconfig. Default: that of a control plane. */
  readonly kubeconfig?: { readonly text: string; readonly file: string }
  /** Keys of RKE1's file that cannot be observed on hosts, and that are lost. */
  readonly hiddenSettings?: readonly string[]
  /** Keys of the cluster, if a file has them. Default: those of a control plane. */
  readonly keys?: ExistingKeys
}

export interface TargetHost {
  readonly address: string
  readonly ssh: HostSpec['ssh']
}

export interface AdoptOptions {
  /** Path of the cluster.yml to write. Paths of ssh keys are relative to it. */
  readonly file: string
  /** Command that accepts unknown host keys. */
  readonly acceptCommand: string
}

/** Connections to a cluster that another tool manages, and what was read through them. */
export interface OpenedAdoption extends AsyncDisposable {
  readonly observation: AdoptionObservation
  /** Reads the keys of the cluster. `hostNames` are the names of hosts in cluster.yml, by address. */
  readonly importKeys: (name: string, hostNames: ReadonlyMap<string, string>) => Promise<Identity>
}

/** Connects to the hosts of a running cluster and reads it. Nothing is changed. */
export async function openAdoption(
  context: WorkspaceContext,
  target: AdoptionTarget,
  { file, acceptCommand }: AdoptOptions,
  run: Pick<ActionRun, 'show' | 'confirm'>,
): Promise<OpenedAdoption> {
  const { signal, operator, now } = context
  const { from } = target
  const hosts = target.hosts.map(buildHostSpec)
  const cluster = clusterSchema.parse({
    apiVersion: clusterApiVersion,
    kind: 'Cluster',
    metadata: { name: from },
    // Only the ssh settings are used; the version and the roles are found out later.
    spec: { kubernetes: '1.0.0', hosts: [placeholder], ssh: target.ssh ?? {} },
  })
  // The store needs an identity for the pins of host keys. It is dropped afterwards.
  const keys = new HostKeyStore(await createIdentity(from, now()))
  const connector = await openSshConnector(operator, file, cluster, keys, acceptCommand)
  const remotes = new Map<string, Remote>()
  const close = async (): Promise<void> => {
    await Promise.allSettled([...remotes.values()].map(async (remote) => remote.close()))
    connector.close()
  }
  try {
    await acceptHostKeys({ connector, keys, acceptCommand, signal }, hosts, run)
    const unreadable: UnreadableHost[] = []
    const read = await settleAll(
      hosts.map(async (host) => {
        try {
          const remote = await connector.connect(host, signal)
          remotes.set(host.address, remote)
          return [await readAdoptedHost(remote, host.address, signal)]
        } catch (error) {
          signal.throwIfAborted()
          unreadable.push(describeUnreadable(host.address, error))
          return []
        }
      }),
    )
    const reader = { from, remotes, hosts: read.flat(), signal }
    const [api, etcd] = [
      await attempt(async () => readApi(reader, target.kubeconfig), signal),
      await attempt(async () => readEtcd(reader), signal),
    ]
    const observation: AdoptionObservation = {
      from,
      observed: now(),
      name: target.name ?? api.value?.kubeadm?.clusterName ?? 'kubernetes',
      hosts: reader.hosts,
      unreadable,
      windowsHosts: target.windowsHosts,
      ...(target.hiddenSettings === undefined ? {} : { hiddenSettings: target.hiddenSettings }),
      ...describeGivenCa(target.keys),
      api: api.value,
      ...(api.failure === undefined ? {} : { apiFailure: api.failure }),
      etcd: etcd.value,
      ...(etcd.failure === undefined ? {} : { etcdFailure: etcd.failure }),
    }
    return {
      observation,
      async importKeys(name, hostNames) {
        const { host, remote } = requireControlPlane(reader)
        const existing = target.keys ?? (await readExistingKeys(remote, host, from, signal))
        const identity = await importIdentity(existing, {
          name,
          from,
          hosts: [...hostNames.values()],
          now: now(),
        })
        return { ...identity, hostKeys: renamePins(keys.identity.hostKeys, hostNames) }
      },
      [Symbol.asyncDispose]: close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** Describes the CA of a state file, so that it can be compared with that of the hosts. */
function describeGivenCa(keys: ExistingKeys | undefined): Pick<AdoptionObservation, 'stateCa'> {
  if (keys === undefined) return {}
  return { stateCa: readFingerprint(keys.kubernetes.certificate) }
}

const placeholder = { name: 'host', address: 'localhost', roles: ['control-plane'] }

/** Returns the name under which the key of a host is pinned until its name is known. */
function toPinName(address: string): string {
  return address.toLowerCase().replaceAll(':', '-')
}

/** Builds a host whose name is its address, because its real name is not known yet. */
function buildHostSpec({ address, ssh }: TargetHost): HostSpec {
  return {
    name: toPinName(address),
    address,
    os: 'linux',
    local: false,
    roles: ['worker'],
    labels: {},
    files: [],
    ...(ssh === undefined ? {} : { ssh }),
  }
}

function describeUnreadable(address: string, error: unknown): UnreadableHost {
  const hint = error instanceof HyperkubeError ? error.hint : undefined
  const message = formatError(error).replace(`${address}: `, '')
  return { address, message, ...(hint === undefined ? {} : { hint }) }
}

/** Pins host keys under the names that the hosts have in cluster.yml. Bastions keep their names. */
function renamePins(
  pins: Identity['hostKeys'],
  hostNames: ReadonlyMap<string, string>,
): Identity['hostKeys'] {
  const names = new Map([...hostNames].map(([address, name]) => [toPinName(address), name]))
  return Object.fromEntries(Object.entries(pins).map(([name, keys]) => [names.get(name) ?? name, keys]))
}

interface Reader {
  readonly from: AdoptionSource
  readonly remotes: ReadonlyMap<string, Remote>
  readonly hosts: readonly AdoptedHost[]
  readonly signal: AbortSignal
}

interface AttemptResult<T> {
  readonly value: T | undefined
  readonly failure?: string
}

async function attempt<T>(read: () => Promise<T>, signal: AbortSignal): Promise<AttemptResult<T>> {
  try {
    return { value: await read() }
  } catch (error) {
    signal.throwIfAborted()
    return { value: undefined, failure: formatError(error) }
  }
}

/** Finds a control plane that was read, and the connection to it. */
function requireControlPlane({ hosts, remotes }: Reader): {
  readonly host: AdoptedHost
  readonly remote: Remote
} {
  for (const host of listAdoptedControlPlanes({ hosts })) {
    const remote = remotes.get(host.address)
    if (remote !== undefined) return { host, remote }
  }
  throw new HyperkubeError('ADOPT_NO_CONTROL_PLANE', 'no control plane was read', {
    hint: 'check that all control planes are listed and reachable',
  })
}

const adminConfig = '/etc/kubernetes/admin.conf'
const apiTiming = { timeout: 20_000 }

async function readApi(reader: Reader, given: AdoptionTarget['kubeconfig']) {
  const { host, remote } = requireControlPlane(reader)
  const { signal } = reader
  const { text, file } = given ?? {
    text: await readRemoteFile(remote, adminConfig, signal),
    file: `${adminConfig} of ${host.address}`,
  }
  const { ca, credentials } = parseKubeconfig(text, file)
  const args = findComponent(host, 'kube-apiserver')?.args ?? {}
  const address = args['advertise-address'] ?? host.address
  using client = new KubeClient({
    servers: [`https://${formatHostPort(address, args['secure-port'] ?? '6443')}`],
    serverName: apiServerTlsName,
    ca,
    credentials,
    dial: dialFrom(reader, remote),
    signal,
    timing: apiTiming,
  })
  return await readAdoptedApi(client, signal)
}

async function readEtcd(reader: Reader) {
  const { host, remote } = requireControlPlane(reader)
  const server = findComponent(host, 'kube-apiserver')
  const read = async (flag: string): Promise<string> => {
    const path = server?.args[flag]
    if (server !== undefined && path !== undefined)
      return readRemoteFile(remote, toHostPath(server, path), reader.signal)
    throw new HyperkubeError('ADOPT_FILE_NOT_READ', `kube-apiserver has no flag --${flag}`, {
      host: host.address,
    })
  }
  using client = new EtcdClient({
    endpoints: (server?.args['etcd-servers'] ?? '').split(','),
    ca: await read('etcd-cafile'),
    credentials: { certificate: await read('etcd-certfile'), privateKey: await read('etcd-keyfile') },
    dial: dialFrom(reader, remote),
    signal: reader.signal,
  })
  return await readAdoptedEtcd(client, reader.signal)
}

/** Opens connections through the host that has the address, or else through the given control plane. */
function dialFrom({ hosts, remotes }: Reader, controlPlane: Remote): Dial {
  return async (address, port, signal) => {
    const owner = hosts.find(({ addresses }) => addresses.includes(address))
    const remote = (owner && remotes.get(owner.address)) ?? controlPlane
    return remote.dial(address, port, { signal })
  }
}
