import type { ClusterHosts } from '../cluster/shape.ts'
import { clusterNetwork, renderUnit } from '../cluster/units.ts'
import type { Host } from '../hosts/host.ts'

/** Directory with the certificates and keys of the bare cluster's services. */
const pki = '/etc/kubernetes/pki'
const kubeconfigs = '/etc/kubernetes'

/** Cipher suites with forward secrecy for TLS 1.2, as upstream recommends. */
const ciphers = [
  'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256',
  'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256',
  'TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384',
  'TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384',
].join(',')

export function etcdUnit(host: Host, { controlPlanes }: ClusterHosts): string {
  const members = controlPlanes.map(({ name, address }) => `${name}=https://${address}:2380`)
  return renderUnit({
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
  return renderUnit({
    description: 'Kubernetes API server',
    // With this order, systemd stops the API server before etcd. An API server that outlives its etcd hangs
    // until it is killed.
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
      `--service-cluster-ip-range=${clusterNetwork.services}`,
      '--profiling=false',
      // Without these two flags, a stopping API server waits a minute for open watches.
      '--shutdown-send-retry-after=true',
      '--shutdown-watch-termination-grace-period=5s',
    ],
  })
}

export function controllerManagerUnit(): string {
  return renderUnit({
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
      `--cluster-cidr=${clusterNetwork.pods}`,
      `--service-cluster-ip-range=${clusterNetwork.services}`,
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
  return renderUnit({
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

export function kubeletUnit(host: Host): string {
  return renderUnit({
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
  return renderUnit({
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
