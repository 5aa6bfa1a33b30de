import type { ProgramName } from '../../catalog/program-flags.ts'

/** Flags of a program that users must not set, without dashes. A trailing star matches any suffix. */
export interface OwnedFlags {
  /** Flags that have a setting in cluster.yml. The value names this setting. */
  readonly settings: Readonly<Record<string, string>>
  /** Flags without a setting in cluster.yml. */
  readonly others: readonly string[]
}

const leaderFlags = [
  'leader-elect',
  'kubeconfig',
  'authentication-kubeconfig',
  'authorization-kubeconfig',
  'master',
]
const servingFlags = ['secure-port', 'client-ca-file', 'tls-cert-file', 'tls-private-key-file']

export const ownedFlags: Readonly<Record<ProgramName, OwnedFlags>> = {
  etcd: {
    settings: {
      name: 'name of the host',
      'listen-*': 'internalAddress of the host',
      'advertise-client-urls': 'internalAddress of the host',
      'initial-advertise-peer-urls': 'internalAddress of the host',
    },
    others: [
      'config-file',
      'data-dir',
      'wal-dir',
      'initial-cluster*',
      'discovery*',
      'force-new-cluster',
      'auto-tls',
      'cert-file',
      'key-file',
      'trusted-ca-file',
      'client-cert-auth',
      'peer-auto-tls',
      'peer-cert-file',
      'peer-key-file',
      'peer-trusted-ca-file',
      'peer-client-cert-auth',
    ],
  },
  'kube-apiserver': {
    settings: {
      'secure-port': 'spec.api.port',
      'advertise-address': 'internalAddress of the host',
      'service-cluster-ip-range': 'spec.network.services',
      'service-node-port-range': 'spec.network.nodePorts',
      'authorization-config': 'the flag authorization-mode and a webhook',
    },
    others: [
      'anonymous-auth',
      'bind-address',
      'client-ca-file',
      'tls-cert-file',
      'tls-private-key-file',
      'etcd-servers',
      'etcd-cafile',
      'etcd-certfile',
      'etcd-keyfile',
      'etcd-prefix',
      'encryption-provider-config*',
      'kubelet-certificate-authority',
      'kubelet-client-*',
      'proxy-client-*',
      'requestheader-*',
      'service-account-key-file',
      'service-account-signing-*',
    ],
  },
  'kube-controller-manager': {
    settings: {
      'cluster-cidr': 'spec.network.pods',
      'node-cidr-mask-size': 'spec.network.nodePrefix',
      'node-cidr-mask-size-ipv4': 'spec.network.nodePrefix',
      'service-cluster-ip-range': 'spec.network.services',
      'cloud-provider': 'spec.cloudProvider',
    },
    others: [
      ...leaderFlags,
      ...servingFlags,
      'allocate-node-cidrs',
      'cluster-signing-cert-file',
      'cluster-signing-key-file',
      // kube-controller-manager refuses the next two groups of flags together with cluster-signing-cert-file
      // and cluster-signing-key-file.
      'cluster-signing-kube*',
      'cluster-signing-legacy-unknown-*',
      'root-ca-file',
      'service-account-private-key-file',
      'use-service-account-credentials',
    ],
  },
  'kube-scheduler': { settings: {}, others: [...leaderFlags, ...servingFlags] },
  kubelet: {
    settings: {
      'hostname-override': 'nodeName of the host',
      'node-ip': 'internalAddress of the host',
      'node-labels': 'labels of the host',
      'register-with-taints': 'taints of the host',
      'max-pods': 'spec.components.kubelet.maxPods',
      'system-reserved': 'spec.components.kubelet.systemReserved',
      'kube-reserved': 'spec.components.kubelet.kubeReserved',
      'cluster-domain': 'spec.network.domain',
      'cloud-provider': 'spec.cloudProvider',
    },
    others: [
      'config',
      'kubeconfig',
      'bootstrap-kubeconfig',
      'register-node',
      'root-dir',
      'cgroup-driver',
      'container-runtime-endpoint',
      'image-service-endpoint',
      'cluster-dns',
      'anonymous-auth',
      'authentication-token-webhook',
      'authorization-mode',
      'client-ca-file',
      'tls-cert-file',
      'tls-private-key-file',
      'port',
      'read-only-port',
      'healthz-*',
      'windows-service',
    ],
  },
  'kube-proxy': {
    settings: {
      'hostname-override': 'nodeName of the host',
      'cluster-cidr': 'spec.network.pods',
      'proxy-mode': 'spec.components.kubeProxy.mode',
      // kube-proxy ignores these flags, because it has a configuration file.
      'metrics-*': 'spec.components.kubeProxy.config',
    },
    others: ['config', 'kubeconfig', 'master', 'healthz-*', 'network-name', 'source-vip', 'windows-service'],
  },
  flanneld: {
    settings: {
      'iface*': 'internalAddress or interface of the host',
      'public-ipv6': 'internalAddressIPv6 of the host',
    },
    others: [
      'kubeconfig-file',
      'kube-api-url',
      'kube-subnet-mgr',
      'net-config-path',
      'subnet-file',
      'healthz-*',
    ],
  },
  'kube-router': {
    settings: {
      'hostname-override': 'nodeName of the host',
      'service-cluster-ip-range': 'spec.network.services',
      'service-node-port-range': 'spec.network.nodePorts',
      'run-firewall': 'spec.network.policy',
    },
    // The other parts of kube-router would replace flannel and kube-proxy.
    others: [
      'kubeconfig',
      'master',
      'health-*',
      'run-router',
      'run-service-proxy',
      'run-loadbalancer',
      'enable-cni',
      'enable-ipv4',
      'enable-ipv6',
      'cleanup-config',
      'version',
      'help',
    ],
  },
}
