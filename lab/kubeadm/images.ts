import { type Fetch, imageFetch, type Versions } from '../cluster/artifacts.ts'

/** Lists the downloads of images that kubeadm runs in pods. Workers need only kube-proxy. */
export function listImageFetches(versions: Versions, controlPlane: boolean): Fetch[] {
  const components = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler']
  return [
    ...(controlPlane
      ? [...components.map((name) => `${name}:${versions.kubernetes}`), etcdImage(versions)]
      : []),
    `kube-proxy:${versions.kubernetes}`,
  ].map((name) => imageFetch(`registry.k8s.io/${name}`))
}

/** Tag of the etcd image. It is set explicitly, because kubeadm would choose another patch release. */
export function formatEtcdTag({ etcd }: Versions): string {
  return `${etcd.slice(1)}-0`
}

function etcdImage(versions: Versions): string {
  return `etcd:${formatEtcdTag(versions)}`
}
