import type { Manifest } from '../../kube/object.ts'
import type { StorageSettings } from '../../spec/addons.ts'
import { type AddonDefinition, findAddonImage } from '../addon-definition.ts'
import { buildClusterMetadata, buildNamespacedMetadata } from '../manifest-helpers.ts'
import { buildLocalPathConfig } from './configuration.ts'
import { localPathApp, buildLocalPathDeployment } from './deployment.ts'
import { buildLocalPathRbac } from './rbac.ts'

export const localPath: AddonDefinition = {
  name: 'local-path',
  description: 'volumes that are directories of a node',
  setting: 'storage',
  images: ['local-path-provisioner', 'busybox'],
  buildManifests(input) {
    const { storage } = input.cluster.spec
    if (storage === 'none') return []
    return [
      ...buildLocalPathRbac(),
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: buildNamespacedMetadata('local-path-config', localPathApp),
        data: buildLocalPathConfig(storage, findAddonImage(input, 'busybox')),
      },
      buildStorageClass(storage),
      buildLocalPathDeployment(storage, findAddonImage(input, 'local-path-provisioner')),
    ]
  },
}

function buildStorageClass({ defaultClass, reclaimPolicy }: StorageSettings): Manifest {
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: {
      ...buildClusterMetadata('local-path', localPathApp),
      annotations: {
        'storageclass.kubernetes.io/is-default-class': String(defaultClass),
        // Volumes of this type support fsGroup and SELinux labels; hostPath volumes do not.
        defaultVolumeType: 'local',
      },
    },
    provisioner: 'rancher.io/local-path',
    reclaimPolicy,
    // The scheduler selects the node for the pod first; the volume is then created on that node.
    volumeBindingMode: 'WaitForFirstConsumer',
  }
}
