import type { Host } from '../hosts/host.ts'

/** Network settings that all clusters of the lab share. */
export const clusterNetwork = {
  pods: '10.244.0.0/16',
  services: '10.96.0.0/16',
  firstService: '10.96.0.1',
  dns: '10.96.0.10',
}

export interface Unit {
  readonly description: string
  readonly after: readonly string[]
  readonly type: 'notify' | 'exec'
  readonly command: readonly string[]
  readonly settings?: readonly string[]
}

export function renderUnit({ description, after, type, command, settings = [] }: Unit): string {
  return [
    '[Unit]',
    `Description=${description}`,
    `After=network.target ${after.join(' ')}`.trimEnd(),
    'StartLimitIntervalSec=0',
    '',
    '[Service]',
    `Type=${type}`,
    `ExecStart=${command.join(' \\\n  ')}`,
    'Restart=always',
    'RestartSec=1',
    'LimitNOFILE=1048576',
    'TimeoutStartSec=0',
    ...settings,
    '',
    '[Install]',
    'WantedBy=multi-user.target',
    '',
  ].join('\n')
}

export function containerdUnit(): string {
  return renderUnit({
    description: 'containerd',
    after: [],
    type: 'notify',
    command: ['/usr/local/bin/containerd'],
    settings: ['Delegate=yes', 'KillMode=process', 'TasksMax=infinity'],
  })
}

export function flanneldUnit(host: Host): string {
  return renderUnit({
    description: 'flanneld',
    after: [],
    type: 'exec',
    command: [
      '/usr/local/bin/flanneld',
      '--kube-subnet-mgr',
      `--kubeconfig-file=/etc/kubernetes/flannel.conf`,
      '--net-config-path=/etc/flannel/net-conf.json',
      `--iface=${host.address}`,
      '--ip-masq',
    ],
    settings: [`Environment=NODE_NAME=${host.name}`],
  })
}

export function kubeRouterUnit(host: Host): string {
  return renderUnit({
    description: 'kube-router',
    after: [],
    type: 'exec',
    command: [
      '/usr/local/bin/kube-router',
      '--kubeconfig=/etc/kubernetes/kube-router.conf',
      '--run-firewall=true',
      '--run-router=false',
      '--run-service-proxy=false',
      '--enable-cni=false',
      `--hostname-override=${host.name}`,
      `--service-cluster-ip-range=${clusterNetwork.services}`,
    ],
  })
}

/**
 * systemd units that write the CNI configuration as soon as flanneld has written the host's subnet. They
 * replace flannel's CNI plugin.
 */
export const conflistUnits: Readonly<Record<string, string>> = {
  'cni-conflist.path': `[Unit]
Description=Wait for flannel's subnet

[Path]
PathExists=/run/flannel/subnet.env

[Install]
WantedBy=multi-user.target
`,
  'cni-conflist.service': `[Unit]
Description=Write the pod network's configuration

[Service]
Type=oneshot
RemainAfterExit=yes
EnvironmentFile=/run/flannel/subnet.env
ExecStart=/usr/local/sbin/cni-conflist
`,
}

export const conflistScript = `#!/bin/sh
set -eu
# flannel names the subnet by its first host; the allocator wants the network itself.
subnet=\${FLANNEL_SUBNET%.*}.0/\${FLANNEL_SUBNET#*/}
mkdir -p /etc/cni/net.d
cat > /etc/cni/net.d/.new <<EOF
{"cniVersion":"1.0.0","name":"flannel","plugins":[
 {"type":"bridge","bridge":"cni0","mtu":$FLANNEL_MTU,"isDefaultGateway":true,"hairpinMode":true,"ipMasq":false,
  "ipam":{"type":"host-local","ranges":[[{"subnet":"$subnet"}]],"routes":[{"dst":"$FLANNEL_NETWORK"}]}},
 {"type":"portmap","capabilities":{"portMappings":true}}]}
EOF
mv /etc/cni/net.d/.new /etc/cni/net.d/10-flannel.conflist
`
