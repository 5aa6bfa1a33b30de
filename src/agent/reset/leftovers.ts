import { kubeletShutdownFile } from '../../contract/host-paths.ts'
import type { Ledger } from '../../contract/ledger.ts'
import type { LinuxHost } from '../host/host.ts'
import { policyRules, policyService, proxyRules, proxyService } from '../resources/packet-rules.ts'

/**
 * Things that programs create on a host in addition to the resources of a plan, and that remain when the
 * programs end.
 */
export interface Leftovers {
  /** Directories that are removed with all their content. */
  readonly directories: readonly string[]
  /**
   * Directories that are also in the ledger. They are only emptied here and removed later, together with the
   * other resources.
   */
  readonly onlyEmptied: readonly string[]
  readonly files: readonly string[]
  /**
   * Directories that are removed only if they are empty. Any content was put there by an administrator and
   * stays.
   */
  readonly removedIfEmpty: readonly string[]
  /** Sockets of container runtimes. The command line of a shim contains the socket of its runtime. */
  readonly runtimes: readonly string[]
  /**
   * Path prefixes of CNI plugins that a container runtime starts. Plugins may still run after the runtime has
   * stopped, so they are killed too.
   */
  readonly plugins: readonly string[]
  /** Path prefixes. Everything mounted below them is unmounted. */
  readonly mounts: readonly string[]
  readonly links: readonly RegExp[]
  /** Protocol numbers of routes. A program marks its routes with its own number. */
  readonly routeProtocols: readonly number[]
  /** Names of nftables tables. */
  readonly tables: readonly string[]
  /** Name prefixes of iptables chains. */
  readonly chains: readonly string[]
  /** Name prefixes of ipsets. */
  readonly sets: readonly string[]
  readonly cgroups: readonly string[]
}

const noLeftovers: Leftovers = {
  directories: [],
  onlyEmptied: [],
  files: [],
  removedIfEmpty: [],
  runtimes: [],
  plugins: [],
  mounts: [],
  links: [],
  routeProtocols: [],
  tables: [],
  chains: [],
  sets: [],
  cgroups: [],
}

/**
 * Leftovers, keyed by the service that creates them. If the service is not in the ledger, other software
 * created them, so they stay.
 */
const byService: Readonly<Record<string, Partial<Leftovers>>> = {
  'etcd.service': { directories: ['/var/lib/etcd'] },
  'containerd.service': {
    directories: ['/var/lib/containerd', '/run/containerd', '/opt/containerd', '/var/lib/cni'],
    runtimes: ['/run/containerd/containerd.sock'],
    plugins: ['/opt/hyperkube/cni-plugins-'],
    mounts: ['/var/lib/containerd', '/run/containerd', '/run/netns/cni-'],
    links: [/^cni0$/],
    tables: ['cni_hostport', 'cni_plugins_masquerade'],
    chains: ['CNI-'],
  },
  'kubelet.service': {
    directories: ['/var/lib/kubelet', '/var/log/pods', '/var/log/containers'],
    files: [kubeletShutdownFile],
    removedIfEmpty: [
      '/etc/systemd/logind.conf.d',
      '/usr/libexec/kubernetes/kubelet-plugins/volume/exec',
      '/usr/libexec/kubernetes/kubelet-plugins/volume',
      '/usr/libexec/kubernetes/kubelet-plugins',
      '/usr/libexec/kubernetes',
    ],
    mounts: ['/var/lib/kubelet'],
    chains: ['KUBE-'],
    cgroups: ['kubepods', 'kubepods.slice'],
  },
  'flanneld.service': {
    directories: ['/run/flannel'],
    // A killed network probe leaves mounts below this directory.
    mounts: ['/run/hyperkube'],
    links: [/^flannel[.-]/],
    tables: ['flannel-ipv4', 'flannel-ipv6'],
    chains: ['FLANNEL-'],
  },
  [proxyService]: { tables: proxyRules.tables, chains: ['KUBE-'] },
  [policyService]: policyRules,
}

/**
 * Leftovers of network plugins that run as pods: flannel, Calico, and kube-proxy as a DaemonSet. They are
 * removed from nodes without flanneld of hyperkube, because pods of the cluster created them there.
 */
const ownNetwork: Partial<Leftovers> = {
  directories: ['/run/flannel', '/run/calico', '/run/nodeagent', '/var/lib/calico', '/var/log/calico'],
  plugins: ['/opt/cni/bin/'],
  mounts: ['/run/calico'],
  links: [/^flannel[.-]/, /^cali[0-9a-f]{11}$/, /^vxlan(-v6)?\.calico$/],
  // The number of Calico. Its routes discard packets to unused addresses of the node.
  routeProtocols: [80],
  tables: ['flannel-ipv4', 'flannel-ipv6', 'calico', ...proxyRules.tables],
  chains: ['FLANNEL-', 'cali-'],
  sets: ['cali40', 'cali60', 'inet6:cali60'],
}

/** Directories of configurations and programs of network plugins. */
const pluginDirectories = ['/etc/cni/net.d', '/opt/cni/bin']

/**
 * Lists the leftovers of a network plugin that hyperkube did not install. A directory that existed before
 * hyperkube keeps its content, because files of an administrator may be there.
 */
function listOwnNetwork(resources: LedgerNames['resources']): Partial<Leftovers> {
  const created = new Set(
    resources
      .filter(({ target, before }) => target === 'directory' && before === undefined)
      .map(({ name }) => name),
  )
  return {
    ...ownNetwork,
    directories: [
      ...(ownNetwork.directories ?? []),
      ...pluginDirectories.filter((path) => created.has(path)),
    ],
  }
}

/** The part of a ledger that determines the leftovers. */
export interface LedgerNames {
  readonly resources: readonly (Pick<Ledger['resources'][number], 'target' | 'name'> & {
    /** Permissions of a directory that existed before hyperkube. */
    readonly before?: unknown
  })[]
  readonly retainedDirectories: readonly string[]
}

/**
 * Combines the leftovers of all services that are in the ledger or whose data directories the ledger lists as
 * retained.
 */
export function listLeftovers({ resources, retainedDirectories }: LedgerNames): Leftovers {
  const services = new Set(resources.filter(({ target }) => target === 'service').map(({ name }) => name))
  const parts = [
    ...Object.entries(byService)
      .filter(
        ([name, { directories = [] }]) =>
          services.has(name) || directories.some((path) => retainedDirectories.includes(path)),
      )
      .map(([, part]) => part),
    ...(services.has('containerd.service') && !services.has('flanneld.service')
      ? [listOwnNetwork(resources)]
      : []),
  ]
  const all = parts.reduce<Leftovers>(
    (sum, part) => ({
      directories: [...sum.directories, ...(part.directories ?? [])],
      onlyEmptied: [],
      files: [...sum.files, ...(part.files ?? [])],
      removedIfEmpty: [...sum.removedIfEmpty, ...(part.removedIfEmpty ?? [])],
      runtimes: [...sum.runtimes, ...(part.runtimes ?? [])],
      plugins: [...sum.plugins, ...(part.plugins ?? [])],
      mounts: [...sum.mounts, ...(part.mounts ?? [])],
      links: [...sum.links, ...(part.links ?? [])],
      routeProtocols: [...sum.routeProtocols, ...(part.routeProtocols ?? [])],
      tables: [...sum.tables, ...(part.tables ?? [])],
      chains: [...new Set([...sum.chains, ...(part.chains ?? [])])],
      sets: [...sum.sets, ...(part.sets ?? [])],
      cgroups: [...sum.cgroups, ...(part.cgroups ?? [])],
    }),
    noLeftovers,
  )
  const onlyEmptied = resources.filter(({ target }) => target === 'directory').map(({ name }) => name)
  return { ...all, directories: [...new Set([...all.directories, ...retainedDirectories])], onlyEmptied }
}

/** A named step that removes one kind of leftover and returns what it found. */
export type LeftoverStep = readonly [name: string, take: (signal: AbortSignal) => Promise<readonly string[]>]

/** Removes one kind of leftover from a Linux host and returns what it found. Idempotent. */
export type LinuxLeftoverStep = (
  host: LinuxHost,
  leftovers: Leftovers,
  signal: AbortSignal,
) => Promise<readonly string[]>
