import type { Manifest } from '../../kube/object.ts'
import type { StorageSettings } from '../../spec/addons.ts'
import { type AddonDefinition, imageOf } from '../addon-definition.ts'
import { clusterWide, namespaced } from '../manifest-helpers.ts'
import { configuration } from './configuration.ts'
import { app, deployment } from './deployment.ts'
import { rights } from './rbac.ts'

export const localPath: AddonDefinition = {
  name: 'local-path',
  about: 'volumes that are directories of a node',
  setting: 'storage',
  images: ['local-path-provisioner', 'busybox'],
  manifests(input) {
    const { storage } = input.cluster.spec
    if (storage === 'none') return []
    return [
      ...rights(),
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: namespaced('local-path-config', app),
        data: configuration(storage, imageOf(input, 'busybox')),
      },
      storageClass(storage),
      deployment(storage, imageOf(input, 'local-path-provisioner')),
    ]
  },
}

function storageClass({ defaultClass, reclaimPolicy }: StorageSettings): Manifest {
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: {
      ...clusterWide('local-path', app),
      annotations: {
        'storageclass.kubernetes.io/is-default-class': String(defaultClass),
        // Such volumes take the group of a pod, and labels of SELinux; those of the other kind do not.
        defaultVolumeType: 'local',
      },
    },
    provisioner: 'rancher.io/local-path',
    reclaimPolicy,
    // The pod decides on the node, and the node has the volume.
    volumeBindingMode: 'WaitForFirstConsumer',
  }
}
