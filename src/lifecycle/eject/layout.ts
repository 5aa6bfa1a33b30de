/** Paths of kubeadm on a host. */
export const kubernetesDirectory = '/etc/kubernetes'
export const pkiDirectory = `${kubernetesDirectory}/pki`
export const manifestDirectory = `${kubernetesDirectory}/manifests`
export const kubeletDirectory = '/var/lib/kubelet'
export const controlPlaneLogDirectory = '/var/log/kubernetes'
export const criSocket = 'unix:///run/containerd/containerd.sock'

/** Components that kubeadm runs as static pods. */
export const staticPodComponents = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
] as const
export type StaticPodComponent = (typeof staticPodComponents)[number]

/** Files of hyperkube's components and where kubeadm expects them. */
export const kubeadmPaths: Readonly<Record<StaticPodComponent, Readonly<Record<string, string>>>> = {
  etcd: {
    'ca.crt': `${pkiDirectory}/etcd/ca.crt`,
    'server.crt': `${pkiDirectory}/etcd/server.crt`,
    'server.key': `${pkiDirectory}/etcd/server.key`,
    'peer.crt': `${pkiDirectory}/etcd/peer.crt`,
    'peer.key': `${pkiDirectory}/etcd/peer.key`,
  },
  'kube-apiserver': {
    'ca.crt': `${pkiDirectory}/ca.crt`,
    'server.crt': `${pkiDirectory}/apiserver.crt`,
    'server.key': `${pkiDirectory}/apiserver.key`,
    'etcd-ca.crt': `${pkiDirectory}/etcd/ca.crt`,
    'etcd-client.crt': `${pkiDirectory}/apiserver-etcd-client.crt`,
    'etcd-client.key': `${pkiDirectory}/apiserver-etcd-client.key`,
    'kubelet-client.crt': `${pkiDirectory}/apiserver-kubelet-client.crt`,
    'kubelet-client.key': `${pkiDirectory}/apiserver-kubelet-client.key`,
    'front-proxy-ca.crt': `${pkiDirectory}/front-proxy-ca.crt`,
    'front-proxy-client.crt': `${pkiDirectory}/front-proxy-client.crt`,
    'front-proxy-client.key': `${pkiDirectory}/front-proxy-client.key`,
    'service-account.pub': `${pkiDirectory}/sa.pub`,
    'service-account.key': `${pkiDirectory}/sa.key`,
  },
  'kube-controller-manager': {
    'ca.crt': `${pkiDirectory}/ca.crt`,
    'ca.key': `${pkiDirectory}/ca.key`,
    'signer.crt': `${pkiDirectory}/ca.crt`,
    'service-account.key': `${pkiDirectory}/sa.key`,
    kubeconfig: `${kubernetesDirectory}/controller-manager.conf`,
  },
  'kube-scheduler': { kubeconfig: `${kubernetesDirectory}/scheduler.conf` },
}

/** Directory with files of a component for which kubeadm has no path of its own. */
export function settingsDirectory(component: StaticPodComponent): string {
  return `${kubernetesDirectory}/${component}`
}
