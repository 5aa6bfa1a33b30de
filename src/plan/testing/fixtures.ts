import { createHash } from 'node:crypto'
import {
  type ArtifactTarget,
  controlPlaneArtifacts,
  type UpstreamArtifact,
  upstreamArtifacts,
} from '../../catalog/artifacts.ts'
import { findKubernetesRelease, listDefaultReleases } from '../../catalog/catalog.ts'
import { shippedCatalog } from '../../catalog/shipped-catalog.ts'
import { type Lock, type LockedArtifact, sortLock } from '../../catalog/lock.ts'
import type { Facts } from '../../contract/facts.ts'
import type { PublicIdentity } from '../../identity/public-identity.ts'
import type { Cluster } from '../../spec/cluster.ts'
import type { HostSpec } from '../../spec/host.ts'
import { readCluster } from '../../spec/read-cluster.ts'
import type { LinuxSystemFacts, PlanInput, WindowsSystemFacts } from '../context.ts'

/** Parses a cluster.yml. Throws if it is invalid. */
export function parseTestCluster(text: string): Cluster {
  const { cluster, findings } = readCluster({ file: 'cluster.yml', text })
  if (cluster === undefined) throw new Error(findings.map(({ message }) => message).join('; '))
  return cluster
}

/** Parses a cluster with these hosts. Each argument is one entry of `hosts`. */
export function buildTestCluster(...hosts: readonly string[]): Cluster {
  const head = ['apiVersion: hyperkube.dev/v1', 'kind: Cluster', 'metadata: { name: shop }']
  const lines = hosts.map((host) => `    - ${host}`)
  return parseTestCluster([...head, 'spec:', '  kubernetes: 1.37.1', '  hosts:', ...lines].join('\n'))
}

export interface FactsVariation {
  readonly linux?: Partial<LinuxSystemFacts>
  readonly windows?: Partial<WindowsSystemFacts>
}

/** Builds the planning input of a cluster. All hosts have ordinary facts, changed by `variation`. */
export function buildPlanInput(
  cluster: Cluster,
  variation: (host: HostSpec) => FactsVariation = () => ({}),
): PlanInput {
  const { kubernetes, heldUpgrade } = cluster.spec
  return {
    cluster,
    release: findKubernetesRelease(shippedCatalog, kubernetes),
    heldRelease: heldUpgrade && findKubernetesRelease(shippedCatalog, heldUpgrade.to),
    lock: buildTestLock(kubernetes, heldUpgrade?.to),
    identity: testIdentity,
    facts: new Map(cluster.spec.hosts.map((host) => [host.name, buildFacts(host, variation(host))])),
    attachments: new Map(),
    version: () => '0.1.0',
  }
}

const targets: readonly ArtifactTarget[] = [
  { os: 'linux', arch: 'amd64' },
  { os: 'linux', arch: 'arm64' },
  { os: 'windows', arch: 'amd64' },
]

const locks = new Map(
  listDefaultReleases(shippedCatalog).map(({ kubernetes }) => [kubernetes, makeLock(kubernetes)]),
)

/**
 * Builds the lock of a Kubernetes version. If `held` is given, the lock also pins the programs of the held
 * upgrade to `held`.
 */
export function buildTestLock(kubernetes: string, held?: string): Lock {
  const lock = locks.get(kubernetes) ?? makeLock(kubernetes)
  if (held === undefined) return lock
  const release = findKubernetesRelease(shippedCatalog, held)
  const artifacts = targets.flatMap((target) => controlPlaneArtifacts(release, target)).map(pinArtifact)
  return { ...lock, heldUpgrade: { kubernetes: held, artifacts } }
}

function pinArtifact({ component, version, os, arch, url }: UpstreamArtifact): LockedArtifact {
  const sha256 = createHash('sha256').update(url).digest('hex')
  return { component, version, os, arch, url, sha256, trust: 'published' }
}

function makeLock(kubernetes: string): Lock {
  const release = findKubernetesRelease(shippedCatalog, kubernetes)
  const artifacts = targets.flatMap((target) => upstreamArtifacts(release, target)).map(pinArtifact)
  return sortLock({
    apiVersion: 'hyperkube.dev/v1',
    kind: 'Lock',
    kubernetes,
    artifacts,
    images: { ...release.images },
  })
}

export const testIdentity: PublicIdentity = {
  id: '2f8f3a52-6f0e-4d0c-9f57-4c8a9f0d1e11',
  cas: {
    kubernetes: '-----BEGIN CERTIFICATE-----\nkubernetes\n-----END CERTIFICATE-----\n',
    etcd: '-----BEGIN CERTIFICATE-----\netcd\n-----END CERTIFICATE-----\n',
    frontProxy: '-----BEGIN CERTIFICATE-----\nfront-proxy\n-----END CERTIFICATE-----\n',
  },
  kubernetesSigner: '-----BEGIN CERTIFICATE-----\nkubernetes\n-----END CERTIFICATE-----\n',
  serviceAccountKeys: '-----BEGIN PUBLIC KEY-----\nservice-account\n-----END PUBLIC KEY-----\n',
  tags: new Map(
    [
      'service-account-key',
      'kubernetes-ca-key',
      'etcd-ca-key',
      'front-proxy-ca-key',
      'encryption-configuration',
    ].map((name) => [name, createHash('sha256').update(name).digest('hex').slice(0, 32)]),
  ),
}

function buildFacts(host: HostSpec, { linux, windows }: FactsVariation): Facts {
  const address = host.internalAddress ?? (/^[\d.]+$/.test(host.address) ? host.address : '192.0.2.1')
  const system: Facts['system'] =
    host.os === 'windows'
      ? { ...windowsSystem(host, address), ...windows }
      : { ...linuxSystem(host, address), ...linux }
  return { apiVersion: 'hyperkube.dev/v1', kind: 'Facts', host: host.name, system }
}

const gibibyte = 2 ** 30

function linuxSystem({ name, internalAddressIPv6 }: HostSpec, address: string): LinuxSystemFacts {
  return {
    os: 'linux',
    hostname: name,
    machineId: createHash('sha256').update(name).digest('hex').slice(0, 32),
    arch: 'amd64',
    cpus: 4,
    memoryBytes: 16 * gibibyte,
    addresses: [
      { interface: 'lo', address: '127.0.0.1', prefix: 8, mtu: 65_536 },
      { interface: 'eth0', address, prefix: 24, mtu: 1500 },
      ...(internalAddressIPv6 === undefined
        ? []
        : [{ interface: 'eth0', address: internalAddressIPv6, prefix: 64, mtu: 1500 }]),
    ],
    defaultInterface: 'eth0',
    ipv6: { defaultInterface: 'eth0', routerAdvertisements: ['eth0'] },
    clock: 1_794_717_090,
    disks: [{ path: '/', totalBytes: 200 * gibibyte, availableBytes: 150 * gibibyte }],
    listeners: [{ port: 22, process: 'sshd' }],
    distribution: { id: 'debian', version: '12', name: 'Debian GNU/Linux 12 (bookworm)' },
    container: false,
    kernel: {
      release: '6.1.0',
      modules: true,
      overlay: true,
      vxlan: true,
      bridge: true,
      bridgeNetfilter: true,
      nftables: true,
      iptables: true,
    },
    cgroup: { version: 2, controllers: ['cpu', 'cpuset', 'hugetlb', 'io', 'memory', 'pids'] },
    programs: ['conntrack', 'curl', 'ipset', 'iptables', 'keepalived', 'mount', 'nft', 'socat', 'umount'],
    foreignServices: [],
    missingCapabilities: [],
    swap: false,
    init: { name: 'systemd', version: '252' },
    resolver: { file: '/etc/resolv.conf', servers: ['192.0.2.53'], systemdResolved: false },
    firewalls: [],
    networkManager: false,
    selinux: 'disabled',
  }
}

function windowsSystem({ name }: HostSpec, address: string): WindowsSystemFacts {
  return {
    os: 'windows',
    hostname: name,
    machineId: createHash('sha256').update(name).digest('hex').slice(0, 32),
    arch: 'amd64',
    cpus: 4,
    memoryBytes: 16 * gibibyte,
    addresses: [{ interface: 'Ethernet', address, prefix: 24, mtu: 1500 }],
    defaultInterface: 'Ethernet',
    clock: 1_794_717_090,
    disks: [{ path: 'C:\\', totalBytes: 127 * gibibyte, availableBytes: 90 * gibibyte }],
    listeners: [{ port: 22, process: 'sshd' }],
    build: 20_348,
    revision: 2582,
    edition: 'ServerStandard',
    installation: 'Server Core',
    containersFeature: true,
    hyperVFeature: false,
    rebootPending: false,
    adapters: [{ name: 'Ethernet', up: true, virtual: false }],
    networks: [],
    metadataRoutes: [],
    foreignServices: [],
  }
}
