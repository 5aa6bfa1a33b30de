import { formatHostPort } from '../../kit/host-port.ts'
import { etcdDataDirectory } from '../../contract/etcd-restore.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Args } from '../../plan/args.ts'
import { configRoot, logRoot } from '../../plan/linux/paths.ts'
import type { Cluster } from '../../spec/cluster.ts'
import {
  controlPlaneLogDirectory,
  kubeadmPaths,
  kubernetesDirectory,
  pkiDirectory,
  settingsDirectory,
  type StaticPodComponent,
} from './layout.ts'
import { readServiceArgs } from './service-args.ts'

/**
 * Flags that are left to the defaults of kubeadm. kubelets of kubeadm have serving certificates of no CA.
 * Controller managers and schedulers create their serving certificates themselves. kubeadm names an etcd member
 * like its node.
 */
const droppedFlags: Readonly<Record<StaticPodComponent, readonly string[]>> = {
  etcd: ['name'],
  'kube-apiserver': ['kubelet-certificate-authority'],
  'kube-controller-manager': ['tls-cert-file', 'tls-private-key-file'],
  'kube-scheduler': ['tls-cert-file', 'tls-private-key-file', 'client-ca-file'],
}

export interface ControlPlaneArgs {
  /** All flags of the static pod, sorted by name. */
  readonly all: Args
  /** Flags that kubeadm would not set by itself. They are in ClusterConfiguration. */
  readonly extra: Args
}

/** Builds the flags of a static pod: those of the service with paths of kubeadm, and the defaults of kubeadm. */
export function buildControlPlaneArgs(
  cluster: Cluster,
  plan: NodePlan,
  component: StaticPodComponent,
): ControlPlaneArgs {
  const defaults = buildKubeadmDefaults(cluster, plan)[component]
  const kept = Object.entries(readServiceArgs(plan, component)).filter(
    ([name]) => !droppedFlags[component].includes(name),
  )
  const own = Object.fromEntries(kept.map(([name, value]) => [name, replacePaths(component, value)]))
  return {
    all: sortArgs({ ...defaults, ...own }),
    extra: sortArgs(
      Object.fromEntries(Object.entries(own).filter(([name, value]) => defaults[name] !== value)),
    ),
  }
}

/** Replaces paths of hyperkube in a flag or file of a component. */
export function replacePaths(component: StaticPodComponent, text: string): string {
  const own = `${configRoot}/${component}/`
  return text
    .replaceAll(new RegExp(`${own}([\\w.-]+)`, 'g'), (_, file: string) => toKubeadmPath(component, file))
    .replaceAll(`${logRoot}/`, `${controlPlaneLogDirectory}/`)
}

export function toKubeadmPath(component: StaticPodComponent, file: string): string {
  return kubeadmPaths[component][file] ?? `${settingsDirectory(component)}/${file}`
}

function sortArgs(args: Args): Args {
  return Object.fromEntries(Object.entries(args).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** Flags that kubeadm sets by itself for a host, in Kubernetes 1.32 to 1.37. */
function buildKubeadmDefaults(
  { metadata, spec }: Cluster,
  { address, node, host }: NodePlan,
): Readonly<Record<StaticPodComponent, Args>> {
  const { api, network } = spec
  const peer = `https://${formatHostPort(address, 2380)}`
  const client = `https://${formatHostPort(address, 2379)}`
  const services = network.services.join(',')
  return {
    etcd: {
      name: node?.name ?? host,
      'listen-client-urls': `https://127.0.0.1:2379,${client}`,
      'advertise-client-urls': client,
      'listen-peer-urls': peer,
      'initial-advertise-peer-urls': peer,
      'client-cert-auth': 'true',
      'trusted-ca-file': `${pkiDirectory}/etcd/ca.crt`,
      'cert-file': `${pkiDirectory}/etcd/server.crt`,
      'key-file': `${pkiDirectory}/etcd/server.key`,
      'peer-client-cert-auth': 'true',
      'peer-trusted-ca-file': `${pkiDirectory}/etcd/ca.crt`,
      'peer-cert-file': `${pkiDirectory}/etcd/peer.crt`,
      'peer-key-file': `${pkiDirectory}/etcd/peer.key`,
      'snapshot-count': '10000',
      'listen-metrics-urls': 'http://127.0.0.1:2381',
      // kubeadm takes this one from ClusterConfiguration.
      'data-dir': etcdDataDirectory,
    },
    'kube-apiserver': {
      'advertise-address': address,
      'allow-privileged': 'true',
      'authorization-mode': 'Node,RBAC',
      'client-ca-file': `${pkiDirectory}/ca.crt`,
      'enable-admission-plugins': 'NodeRestriction',
      'enable-bootstrap-token-auth': 'true',
      'etcd-cafile': `${pkiDirectory}/etcd/ca.crt`,
      'etcd-certfile': `${pkiDirectory}/apiserver-etcd-client.crt`,
      'etcd-keyfile': `${pkiDirectory}/apiserver-etcd-client.key`,
      'etcd-servers': 'https://127.0.0.1:2379',
      'kubelet-client-certificate': `${pkiDirectory}/apiserver-kubelet-client.crt`,
      'kubelet-client-key': `${pkiDirectory}/apiserver-kubelet-client.key`,
      'kubelet-preferred-address-types': 'InternalIP,ExternalIP,Hostname',
      'proxy-client-cert-file': `${pkiDirectory}/front-proxy-client.crt`,
      'proxy-client-key-file': `${pkiDirectory}/front-proxy-client.key`,
      'requestheader-allowed-names': 'front-proxy-client',
      'requestheader-client-ca-file': `${pkiDirectory}/front-proxy-ca.crt`,
      'requestheader-extra-headers-prefix': 'X-Remote-Extra-',
      'requestheader-group-headers': 'X-Remote-Group',
      'requestheader-username-headers': 'X-Remote-User',
      'secure-port': String(api.port),
      'service-account-issuer': `https://kubernetes.default.svc.${network.domain}`,
      'service-account-key-file': `${pkiDirectory}/sa.pub`,
      'service-account-signing-key-file': `${pkiDirectory}/sa.key`,
      'service-cluster-ip-range': services,
      'tls-cert-file': `${pkiDirectory}/apiserver.crt`,
      'tls-private-key-file': `${pkiDirectory}/apiserver.key`,
    },
    'kube-controller-manager': {
      ...buildKubeconfigDefaults('controller-manager.conf'),
      'allocate-node-cidrs': 'true',
      'client-ca-file': `${pkiDirectory}/ca.crt`,
      'cluster-cidr': network.pods.join(','),
      'cluster-name': metadata.name,
      'cluster-signing-cert-file': `${pkiDirectory}/ca.crt`,
      'cluster-signing-key-file': `${pkiDirectory}/ca.key`,
      controllers: '*,bootstrapsigner,tokencleaner',
      'requestheader-client-ca-file': `${pkiDirectory}/front-proxy-ca.crt`,
      'root-ca-file': `${pkiDirectory}/ca.crt`,
      'service-account-private-key-file': `${pkiDirectory}/sa.key`,
      'service-cluster-ip-range': services,
      'use-service-account-credentials': 'true',
    },
    'kube-scheduler': buildKubeconfigDefaults('scheduler.conf'),
  }
}

function buildKubeconfigDefaults(file: string): Args {
  const kubeconfig = `${kubernetesDirectory}/${file}`
  return {
    'authentication-kubeconfig': kubeconfig,
    'authorization-kubeconfig': kubeconfig,
    'bind-address': '127.0.0.1',
    kubeconfig,
    'leader-elect': 'true',
  }
}
