import type { FlagTable } from '../program-flags.ts'

/** Made by npm run flags from the programs of flannel 0.28.7; do not edit. */
export const flannelFlagTable = {
  base: {
    minor: '0.28',
    flags: {
      flanneld: {
        'etcd-cafile': 'value',
        'etcd-certfile': 'value',
        'etcd-endpoints': 'value',
        'etcd-keyfile': 'value',
        'etcd-password': 'value',
        'etcd-prefix': 'value',
        'etcd-username': 'value',
        'healthz-ip': 'value',
        'healthz-port': 'value',
        iface: 'value',
        'iface-can-reach': 'value',
        'iface-regex': 'value',
        'ip-blackhole-route': 'boolean',
        'ip-masq': 'boolean',
        'ip-masq-fully-random-disable': 'boolean',
        'iptables-forward-rules': 'boolean',
        'iptables-resync': 'value',
        'kube-annotation-prefix': 'value',
        'kube-api-url': 'value',
        'kube-subnet-mgr': 'boolean',
        'kubeconfig-file': 'value',
        log_backtrace_at: 'value',
        'net-config-path': 'value',
        'public-ip': 'value',
        'public-ipv6': 'value',
        'set-node-network-unavailable': 'boolean',
        'subnet-file': 'value',
        'subnet-lease-renew-margin': 'value',
        v: 'value',
        version: 'boolean',
        vmodule: 'value',
      },
    },
  },
  changes: [],
} as const satisfies FlagTable
