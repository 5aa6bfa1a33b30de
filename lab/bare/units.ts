import type { Host } from '../hosts/host.ts'
import type { Cast } from './shape.ts'

/** The services of the bare engine, with the flags a careful operator would write. */
export const network = {
  pods: '10.244.0.0/16',
  services: '10.96.0.0/16',
  firstService: '10.96.0.1',
  dns: '10.96.0.10',
}

const pki = '/etc/kubernetes/pki'
const kubeconfigs = '/etc/kubernetes'

/** TLS 1.2 upwards with forward secrecy, as upstream recommends. */
const ciphers = [
  'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256',
  'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256',
  'TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384',
  'TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384',
].join(',')

interface Unit {
  readonly description: string
  readonly after: readonly string[]
  readonly type: 'notify' | 'exec'
  readonly command: readonly string[]
  readonly settings?: readonly string[]
}

function render({ description, after, type, command, settings = [] }: Unit): string {
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

export function etcdUnit(host: Host, { controlPlanes }: Cast): string {
  const members = controlPlanes.map(({ name, address }) => `${name}=https://${address}:2380`)
  return render({
    description: 'etcd',
    after: [],
    type: 'notify',
    command: [
      '/usr/local/bin/etcd',
      `--name=${host.name}`,
      '--data-dir=/var/lib/etcd/data',
      `--listen-client-urls=https://127.0.0.1:2379,https://${host.address}:2379`,
      `--advertise-client-urls=https://${host.address}:2379`,
      `--listen-peer-urls=https://${host.address}:2380`,
      `--initial-advertise-peer-urls=https://${host.address}:2380`,
      `--initial-cluster=${members.join(',')}`,
      '--initial-cluster-state=new',
      '--initial-cluster-token=bare',
      '--client-cert-auth',
      `--trusted-ca-file=${pki}/etcd-ca.crt`,
      `--cert-file=${pki}/etcd.crt`,
      `--key-file=${pki}/etcd.key`,
      '--peer-client-cert-auth',
      `--peer-trusted-ca-file=${pki}/etcd-ca.crt`,
      `--peer-cert-file=${pki}/etcd.crt`,
      `--peer-key-file=${pki}/etcd.key`,
      `--cipher-suites=${ciphers}`,
    ],
  })
}

export function apiServerUnit(host: Host): string {
  return render({
    description: 'Kubernetes API server',
    // Also the order of stopping: an API server whose etcd went first hangs until it is killed.
    after: ['etcd.service'],
    type: 'notify',
    command: [
      '/usr/local/bin/kube-apiserver',
      `--advertise-address=${host.address}`,
      '--authorization-mode=Node,RBAC',
      '--enable-admission-plugins=NodeRestriction',
      `--client-ca-file=${pki}/ca.crt`,
      `--tls-cert-file=${pki}/apiserver.crt`,
      `--tls-private-key-file=${pki}/apiserver.key`,
      '--tls-min-version=VersionTLS12',
      `--tls-cipher-suites=${ciphers}`,
      '--etcd-servers=https://127.0.0.1:2379',
      `--etcd-cafile=${pki}/etcd-ca.crt`,
      `--etcd-certfile=${pki}/apiserver-etcd-client.crt`,
      `--etcd-keyfile=${pki}/apiserver-etcd-client.key`,
      `--kubelet-certificate-authority=${pki}/ca.crt`,
      `--kubelet-client-certificate=${pki}/apiserver-kubelet-client.crt`,
      `--kubelet-client-key=${pki}/apiserver-kubelet-client.key`,
      '--kubelet-preferred-address-types=InternalIP',
      `--proxy-client-cert-file=${pki}/front-proxy-client.crt`,
      `--proxy-client-key-file=${pki}/front-proxy-client.key`,
      `--requestheader-client-ca-file=${pki}/front-proxy-ca.crt`,
      '--requestheader-allowed-names=front-proxy-client',
      '--requestheader-username-headers=X-Remote-User',
      '--requestheader-group-headers=X-Remote-Group',
      '--requestheader-extra-headers-prefix=X-Remote-Extra-',
      '--service-account-issuer=https://kubernetes.default.svc',
      `--service-account-key-file=${pki}/service-account.pub`,
      `--service-account-signing-key-file=${pki}/service-account.key`,
      `--service-cluster-ip-range=${network.services}`,
      '--profiling=false',
      // Without these a stop waits a minute for watches that nobody ends.
      '--shutdown-send-retry-after=true',
      '--shutdown-watch-termination-grace-period=5s',
    ],
  })
}

export function controllerManagerUnit(): string {
  return render({
    description: 'Kubernetes controller manager',
    after: ['kube-apiserver.service'],
    type: 'exec',
    command: [
      '/usr/local/bin/kube-controller-manager',
      `--kubeconfig=${kubeconfigs}/controller-manager.conf`,
      `--authentication-kubeconfig=${kubeconfigs}/controller-manager.conf`,
      `--authorization-kubeconfig=${kubeconfigs}/controller-manager.conf`,
      '--bind-address=127.0.0.1',
      '--allocate-node-cidrs',
      `--cluster-cidr=${network.pods}`,
      `--service-cluster-ip-range=${network.services}`,
      `--cluster-signing-cert-file=${pki}/ca.crt`,
      `--cluster-signing-key-file=${pki}/ca.key`,
      `--root-ca-file=${pki}/ca.crt`,
      `--service-account-private-key-file=${pki}/service-account.key`,
      '--use-service-account-credentials',
      '--profiling=false',
    ],
  })
}

export function schedulerUnit(): string {
  return render({
    description: 'Kubernetes scheduler',
    after: ['kube-apiserver.service'],
    type: 'exec',
    command: [
      '/usr/local/bin/kube-scheduler',
      `--kubeconfig=${kubeconfigs}/scheduler.conf`,
      `--authentication-kubeconfig=${kubeconfigs}/scheduler.conf`,
      `--authorization-kubeconfig=${kubeconfigs}/scheduler.conf`,
      '--bind-address=127.0.0.1',
      '--profiling=false',
    ],
  })
}

export function containerdUnit(): string {
  return render({
    description: 'containerd',
    after: [],
    type: 'notify',
    command: ['/usr/local/bin/containerd'],
    settings: ['Delegate=yes', 'KillMode=process', 'TasksMax=infinity'],
  })
}

export function kubeletUnit(host: Host): string {
  return render({
    description: 'kubelet',
    after: ['containerd.service'],
    type: 'exec',
    command: [
      '/usr/local/bin/kubelet',
      `--config=${kubeconfigs}/kubelet.yaml`,
      `--kubeconfig=${kubeconfigs}/kubelet.conf`,
      `--hostname-override=${host.name}`,
      `--node-ip=${host.address}`,
    ],
    settings: ['KillMode=process'],
  })
}

export function kubeProxyUnit(host: Host): string {
  return render({
    description: 'kube-proxy',
    after: [],
    type: 'exec',
    command: [
      '/usr/local/bin/kube-proxy',
      `--config=${kubeconfigs}/kube-proxy.yaml`,
      `--hostname-override=${host.name}`,
    ],
  })
}

export function flanneldUnit(host: Host): string {
  return render({
    description: 'flanneld',
    after: [],
    type: 'exec',
    command: [
      '/usr/local/bin/flanneld',
      '--kube-subnet-mgr',
      `--kubeconfig-file=${kubeconfigs}/flannel.conf`,
      '--net-config-path=/etc/flannel/net-conf.json',
      `--iface=${host.address}`,
      '--ip-masq',
    ],
    settings: [`Environment=NODE_NAME=${host.name}`],
  })
}

/** Runs the moment flanneld has written the host's subnet: no meta plugin is needed. */
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
