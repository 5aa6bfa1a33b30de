import { dirname } from 'node:path/posix'
import type { Args } from '../../plan/args.ts'
import {
  controlPlaneLogDirectory,
  kubernetesDirectory,
  pkiDirectory,
  settingsDirectory,
  type StaticPodComponent,
} from './layout.ts'

/** A directory or file of the host that a static pod sees at the same path. */
export interface PodVolume {
  readonly name: string
  readonly path: string
  readonly type: 'DirectoryOrCreate' | 'FileOrCreate' | ''
  readonly readOnly: boolean
}

/** Volumes that kubeadm gives each static pod by itself. */
export function listDefaultVolumes(component: StaticPodComponent, args: Args): readonly PodVolume[] {
  const directory = (name: string, path: string, readOnly = true): PodVolume => ({
    ...{ name, path, readOnly },
    type: 'DirectoryOrCreate',
  })
  const kubeconfig = (file: string): PodVolume => ({
    ...{ name: 'kubeconfig', path: `${kubernetesDirectory}/${file}`, readOnly: true },
    type: 'FileOrCreate',
  })
  const common = [directory('ca-certs', '/etc/ssl/certs'), directory('k8s-certs', pkiDirectory)]
  switch (component) {
    case 'etcd':
      return [
        directory('etcd-certs', `${pkiDirectory}/etcd`, false),
        directory('etcd-data', args['data-dir'] ?? '', false),
      ]
    case 'kube-apiserver':
      return common
    case 'kube-controller-manager':
      return [...common, kubeconfig('controller-manager.conf')]
    default:
      return [kubeconfig('scheduler.conf')]
  }
}

/** Lists the volumes that flags need and that kubeadm does not add: ClusterConfiguration names them. */
export function listExtraVolumes(component: StaticPodComponent, args: Args): readonly PodVolume[] {
  const known = listDefaultVolumes(component, args).map(({ path }) => path)
  const isKnown = (path: string): boolean => known.some((one) => path === one || path.startsWith(`${one}/`))
  const paths = Object.values(args)
    .flatMap((value) => value.split(','))
    .filter((value) => value.startsWith('/') && !isKnown(value))
  const volumes = paths.map((path): Omit<PodVolume, 'name'> => {
    if (path.startsWith(`${settingsDirectory(component)}/`))
      return { path: settingsDirectory(component), type: 'DirectoryOrCreate', readOnly: true }
    if (path.startsWith(`${controlPlaneLogDirectory}/`))
      return { path: dirname(path), type: 'DirectoryOrCreate', readOnly: false }
    return { path, type: '', readOnly: true }
  })
  const unique = [...new Map(volumes.map((volume) => [volume.path, volume])).values()]
  return unique.map((volume, index) => ({ name: `extra-${index + 1}`, ...volume }))
}
