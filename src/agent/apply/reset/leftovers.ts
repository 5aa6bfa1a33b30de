import type { Ledger } from '../../../contract/ledger.ts'

/** What programs create on a host beside our resources, and leave behind when they end. */
export interface Leftovers {
  /** Removed with all their content. */
  readonly directories: readonly string[]
  /**
   * Directories that the ledger contains: they are only emptied here and removed together with the other
   * resources.
   */
  readonly onlyEmptied: readonly string[]
  readonly files: readonly string[]
  /** Removed only if empty: any content was put there by an administrator. */
  readonly removedIfEmpty: readonly string[]
  /** Socket of a runtime; its shims carry this address. */
  readonly runtimes: readonly string[]
  /** Everything mounted below these prefixes is unmounted. */
  readonly mounts: readonly string[]
  readonly links: readonly RegExp[]
  /** Names of nftables tables. */
  readonly tables: readonly string[]
  /** Name prefixes of iptables chains. */
  readonly chains: readonly string[]
  readonly cgroups: readonly string[]
}

const noLeftovers: Leftovers = {
  directories: [],
  onlyEmptied: [],
  files: [],
  removedIfEmpty: [],
  runtimes: [],
  mounts: [],
  links: [],
  tables: [],
  chains: [],
  cgroups: [],
}

/**
 * Keyed by the service that creates the leftovers. Without that service in the ledger none of them are ours.
 */
const byService: Readonly<Record<string, Partial<Leftovers>>> = {
  'etcd.service': { directories: ['/var/lib/etcd'] },
  'containerd.service': {
    directories: ['/var/lib/containerd', '/run/containerd', '/opt/containerd', '/var/lib/cni'],
    runtimes: ['/run/containerd/containerd.sock'],
    mounts: ['/var/lib/containerd', '/run/containerd', '/run/netns/cni-'],
    links: [/^cni0$/],
    tables: ['cni_hostport', 'cni_plugins_masquerade'],
    chains: ['CNI-'],
  },
  'kubelet.service': {
    directories: ['/var/lib/kubelet', '/var/log/pods', '/var/log/containers'],
    files: ['/etc/systemd/logind.conf.d/99-kubelet.conf'],
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
    // Mounts of a network probe that was killed.
    mounts: ['/run/hyperkube'],
    links: [/^flannel[.-]/],
    tables: ['flannel-ipv4', 'flannel-ipv6'],
    chains: ['FLANNEL-'],
  },
  'kube-proxy.service': { tables: ['kube-proxy'], chains: ['KUBE-'] },
}

/** Combines the leftovers of all services in the ledger and of those whose data is still on the host. */
export function listLeftovers({ resources, retainedDirectories }: Ledger): Leftovers {
  const services = new Set(resources.filter(({ target }) => target === 'service').map(({ name }) => name))
  const parts = Object.entries(byService)
    .filter(
      ([name, { directories = [] }]) =>
        services.has(name) || directories.some((path) => retainedDirectories.includes(path)),
    )
    .map(([, part]) => part)
  const all = parts.reduce<Leftovers>(
    (sum, part) => ({
      directories: [...sum.directories, ...(part.directories ?? [])],
      onlyEmptied: [],
      files: [...sum.files, ...(part.files ?? [])],
      removedIfEmpty: [...sum.removedIfEmpty, ...(part.removedIfEmpty ?? [])],
      runtimes: [...sum.runtimes, ...(part.runtimes ?? [])],
      mounts: [...sum.mounts, ...(part.mounts ?? [])],
      links: [...sum.links, ...(part.links ?? [])],
      tables: [...sum.tables, ...(part.tables ?? [])],
      chains: [...new Set([...sum.chains, ...(part.chains ?? [])])],
      cgroups: [...sum.cgroups, ...(part.cgroups ?? [])],
    }),
    noLeftovers,
  )
  const onlyEmptied = resources.filter(({ target }) => target === 'directory').map(({ name }) => name)
  return { ...all, directories: [...new Set([...all.directories, ...retainedDirectories])], onlyEmptied }
}
