import { type Fetch, imageFetch, type Versions } from '../cluster/artifacts.ts'

/** What kubeadm runs in pods. Only control planes have more than kube-proxy. */
export function imageFetches(versions: Versions, controlPlane: boolean): Fetch[] {
  const components = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler']
  return [
    ...(controlPlane
      ? [...components.map((name) => `${name}:${versions.kubernetes}`), etcdImage(versions)]
      : []),
    `kube-proxy:${versions.kubernetes}`,
  ].map((name) => imageFetch(`registry.k8s.io/${name}`))
}

/** Said to kubeadm, which would take another patch of etcd by itself. */
export function etcdTag({ etcd }: Versions): string {
  return `${etcd.slice(1)}-0`
}

function etcdImage(versions: Versions): string {
  return `etcd:${etcdTag(versions)}`
}
