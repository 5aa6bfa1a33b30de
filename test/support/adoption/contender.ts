import type { KubernetesVersion } from '../../../lab/components/parts.ts'
import type { Credentials, KubeApi } from '../../../lab/cluster/kube-api.ts'
import type { Host } from '../../../lab/hosts/host.ts'
import type { Lab } from '../../../lab/hosts/lab.ts'
import type { CommandResult } from '../../../src/kit/command.ts'
import type { Endpoint } from '../api-transports.ts'
import type { HostState, StateScripts } from '../host-states.ts'
import type { AdoptingOperator } from './adopting-operator.ts'

/** Tools whose clusters are adopted. */
export const contenderNames = ['kubeadm', 'rke1', 'rke1-canal'] as const
export type ContenderName = (typeof contenderNames)[number]

/** What differs between the clusters of the tools. The suites are the same for all of them. */
export interface Contender {
  readonly name: ContenderName
  /** How a page names the tool, with its article: `a kubeadm cluster`. */
  readonly title: string
  readonly version: KubernetesVersion
  /** Describes the cluster on a page. */
  readonly describe: (shape: string) => string
  /** State of a host that must be the same before the move and after the rollback. */
  readonly states: StateScripts
  /** Lines of states that may differ. */
  readonly ignored: RegExp
  /** What `ignored` leaves out, and what no state contains. */
  readonly notCompared: string
  /** Script that prints `moved` on a host that runs what hyperkube installed, and `expectedMoved`. */
  readonly movedScript: string
  readonly movedOutput: string
  /** Runtime of nodes before the move. Afterwards it is containerd. */
  readonly runtime: 'docker' | 'containerd'
  /** Number of pods that the move creates again. */
  readonly recreatesPods: boolean
  /** Whether the pod network enforces NetworkPolicy. */
  readonly enforcesPolicies: boolean
  /** Address in the service network, from its last byte. */
  readonly serviceAddress: (lastByte: number) => string
  /** The proxy of the tool on each worker, through which nodes reach the API. */
  readonly nodeProxies: readonly Endpoint[]
  readonly create: (options: ContenderOptions) => Promise<AdoptedCluster>
}

export interface ContenderOptions {
  /** Name of the lab. */
  readonly name: string
  readonly shape: string
  /** Path of the hyperkube executable. */
  readonly executable: string
  readonly parts?: readonly string[]
  readonly survivesPowerCut?: boolean
}

/** A cluster of another tool, and an operator who adopts it. Its Secrets are encrypted at rest. */
export interface AdoptedCluster extends AdoptingOperator, AsyncDisposable {
  readonly contender: Contender
  readonly shape: string
  readonly lab: Lab
  /** Address of the mirror. */
  readonly mirror: string
  readonly hosts: readonly Host[]
  /** Credentials of the tool for an administrator and for etcd. */
  readonly credentials: Credentials
  readonly etcdCredentials: Credentials
  /** Runs `adopt` with all hosts, which writes cluster.yml and the identity. */
  readonly adopt: () => Promise<CommandResult>
  /** Makes images available to the runtime of the tool on all hosts. */
  readonly loadImages: (images: readonly string[]) => Promise<void>
  /** Runs the tool, which must find nothing to change. Undefined if the tool has no such command. */
  readonly runTool: (() => Promise<void>) | undefined
  /** Reads what the runtime knows of the containers of the tool, as lines. Empty if they are compared otherwise. */
  readonly inspectContainers: () => Promise<ReadonlyMap<string, HostState>>
  /**
   * Renews credentials of programs that neither hyperkube nor the tool manages, after a rotation of the CA. An
   * operator would do the same.
   */
  readonly renewOwnCredentials: () => Promise<void>
}

export function listControlPlanes({ hosts }: Pick<AdoptedCluster, 'hosts'>): readonly Host[] {
  return hosts.filter(({ name }) => name.startsWith('cp'))
}

export function listWorkers({ hosts }: Pick<AdoptedCluster, 'hosts'>): readonly Host[] {
  return hosts.filter(({ name }) => name.startsWith('w'))
}

/** Returns the host whose clients send the load. */
export function selectClientHost(cluster: Pick<AdoptedCluster, 'hosts'>): Host {
  const host = listWorkers(cluster).at(-1)
  if (host === undefined) throw new Error('the cluster has no worker')
  return host
}

export function requireFirstHost({ hosts }: Pick<AdoptedCluster, 'hosts'>): Host {
  const [first] = hosts
  if (first === undefined) throw new Error('the cluster has no host')
  return first
}

/** Waits for the API of the first control plane, as the given client sees it. */
export async function isApiReady(api: KubeApi): Promise<boolean> {
  return (await api.text('/readyz').catch(() => '')) === 'ok'
}
