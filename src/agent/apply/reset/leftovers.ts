import type { Ledger } from '../../../contract/ledger.ts'

/** What programs make on a host beside what we put there, and leave when they end. */
export interface Leftovers {
  /** With all that is in them. */
  readonly directories: readonly string[]
  /** Those of them that are written down: they are only emptied, and go, or not, with all that is. */
  readonly emptied: readonly string[]
  readonly files: readonly string[]
  /** Only where nothing is in them: what is, an administrator has put there. */
  readonly bare: readonly string[]
  /** Where a runtime listens: what it has started bears this address. */
  readonly runtimes: readonly string[]
  /** All that is mounted below. */
  readonly mounts: readonly string[]
  readonly links: readonly RegExp[]
  /** Of nftables, by name. */
  readonly tables: readonly string[]
  /** Of iptables, by how their names begin. */
  readonly chains: readonly string[]
  readonly cgroups: readonly string[]
}

const nothing: Leftovers = {
  directories: [],
  emptied: [],
  files: [],
  bare: [],
  runtimes: [],
  mounts: [],
  links: [],
  tables: [],
  chains: [],
  cgroups: [],
}

/** By the service that makes it. Where that service was never ours, neither is any of this. */
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
    bare: [
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
    // What a probe of its network has left that was killed over it.
    mounts: ['/run/hyperkube'],
    links: [/^flannel[.-]/],
    tables: ['flannel-ipv4', 'flannel-ipv6'],
    chains: ['FLANNEL-'],
  },
  'kube-proxy.service': { tables: ['kube-proxy'], chains: ['KUBE-'] },
}

/** All of those that a host may have: its services, and those whose data it still has. */
export function leftoversOf({ things, left }: Ledger): Leftovers {
  const services = new Set(things.filter(({ target }) => target === 'service').map(({ name }) => name))
  const parts = Object.entries(byService)
    .filter(
      ([name, { directories = [] }]) => services.has(name) || directories.some((path) => left.includes(path)),
    )
    .map(([, part]) => part)
  const all = parts.reduce<Leftovers>(
    (sum, part) => ({
      directories: [...sum.directories, ...(part.directories ?? [])],
      emptied: [],
      files: [...sum.files, ...(part.files ?? [])],
      bare: [...sum.bare, ...(part.bare ?? [])],
      runtimes: [...sum.runtimes, ...(part.runtimes ?? [])],
      mounts: [...sum.mounts, ...(part.mounts ?? [])],
      links: [...sum.links, ...(part.links ?? [])],
      tables: [...sum.tables, ...(part.tables ?? [])],
      chains: [...new Set([...sum.chains, ...(part.chains ?? [])])],
      cgroups: [...sum.cgroups, ...(part.cgroups ?? [])],
    }),
    nothing,
  )
  const emptied = things.filter(({ target }) => target === 'directory').map(({ name }) => name)
  return { ...all, directories: [...new Set([...all.directories, ...left])], emptied }
}
