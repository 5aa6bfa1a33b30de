import { stringify } from 'yaml'
import type { Manifest } from '../../kube/object.ts'
import type { StorageSettings } from '../../spec/addons.ts'
import { type AddonDefinition, findAddonImage } from './addon-definition.ts'
import {
  addonNamespace,
  buildAppLabels,
  buildClusterMetadata,
  buildContainerSecurity,
  buildNamespacedMetadata,
  buildPlacement,
  buildPodSecurity,
  buildResources,
  buildServiceAccount,
  buildSubject,
  controlPlaneSelector,
  controlPlaneTolerations,
  rbacGroup,
} from './manifest-helpers.ts'

const localPathApp = 'local-path-provisioner'

const configMount = '/etc/config'

export const localPath: AddonDefinition = {
  name: 'local-path',
  description: 'volumes in a directory of a node',
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

function buildLocalPathRbac(): Manifest[] {
  return [
    ...buildServiceAccount(localPathApp, localPathApp, [
      { apiGroups: [''], resources: ['nodes'], verbs: ['get'] },
      { apiGroups: [''], resources: ['persistentvolumeclaims'], verbs: ['get', 'list', 'watch', 'update'] },
      {
        apiGroups: [''],
        resources: ['persistentvolumes'],
        verbs: ['get', 'list', 'watch', 'create', 'patch', 'update', 'delete'],
      },
      { apiGroups: ['storage.k8s.io'], resources: ['storageclasses'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: [''], resources: ['events'], verbs: ['create', 'patch'] },
    ]),
    // This Role lets the provisioner create its helper pods in its own namespace. kube-system is exempt from
    // Pod Security, so anyone with the provisioner's token could start a privileged pod on any node.
    // Therefore the provisioner runs on control planes only.
    {
      apiVersion: `${rbacGroup}/v1`,
      kind: 'Role',
      metadata: buildNamespacedMetadata(localPathApp, localPathApp),
      rules: [
        { apiGroups: [''], resources: ['pods'], verbs: ['get', 'create', 'delete'] },
        { apiGroups: [''], resources: ['pods/log'], verbs: ['get'] },
      ],
    },
    {
      apiVersion: `${rbacGroup}/v1`,
      kind: 'RoleBinding',
      metadata: buildNamespacedMetadata(localPathApp, localPathApp),
      roleRef: { apiGroup: rbacGroup, kind: 'Role', name: localPathApp },
      subjects: [buildSubject(localPathApp)],
    },
  ]
}

function buildLocalPathDeployment(settings: StorageSettings, image: string): Manifest {
  const selector = buildAppLabels(localPathApp)
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: buildNamespacedMetadata('local-path-provisioner', localPathApp),
    spec: {
      // The provisioner has no leader election: two replicas would both create each volume.
      replicas: 1,
      strategy: { type: 'Recreate' },
      selector: { matchLabels: selector },
      template: {
        metadata: { labels: selector },
        spec: {
          serviceAccountName: localPathApp,
          ...buildPlacement(settings, {
            tolerations: controlPlaneTolerations,
            nodeSelector: controlPlaneSelector,
          }),
          securityContext: buildPodSecurity(65_534),
          containers: [buildContainer(settings, image)],
          volumes: [{ name: 'config', configMap: { name: 'local-path-config' } }],
        },
      },
    },
  }
}

function buildContainer(settings: StorageSettings, image: string): Record<string, unknown> {
  return {
    name: 'local-path-provisioner',
    image,
    imagePullPolicy: 'IfNotPresent',
    command: ['/usr/bin/local-path-provisioner', 'start'],
    args: [
      `--config=${configMount}/config.json`,
      `--helper-pod-file=${configMount}/helperPod.yaml`,
      '--configmap-name=local-path-config',
      `--namespace=${addonNamespace}`,
      `--service-account-name=${localPathApp}`,
    ],
    // Directory from which the provisioner reads the manifest of its helper pod.
    env: [{ name: 'CONFIG_MOUNT_PATH', value: configMount }],
    resources: buildResources(settings, { requests: { cpu: '10m', memory: '32Mi' } }),
    securityContext: buildContainerSecurity(),
    volumeMounts: [{ name: 'config', mountPath: configMount, readOnly: true }],
  }
}

/** Builds the configuration files of the provisioner, which reloads them without a restart. */
function buildLocalPathConfig({ path }: StorageSettings, helperImage: string): Record<string, string> {
  const nodePathMap = [{ node: 'DEFAULT_PATH_FOR_NON_LISTED_NODES', paths: [path] }]
  return {
    'config.json': JSON.stringify({ nodePathMap }, undefined, 2),
    setup,
    teardown,
    'helperPod.yaml': stringify(buildHelperPod(helperImage)),
  }
}

/**
 * Script that creates the directory of a volume. Any user in a pod may write to the directory, but on the
 * host only root can reach it.
 */
const setup = `#!/bin/sh
set -eu
mkdir -m 0777 -p "$VOL_DIR"
chmod 0700 "$VOL_DIR/.."
`

const teardown = `#!/bin/sh
set -eu
rm -rf "$VOL_DIR"
`

/**
 * Builds the pod that creates or removes the directory of a volume on a node. The pod must be able to delete
 * files of any user.
 */
function buildHelperPod(image: string): Record<string, unknown> {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'helper-pod' },
    spec: {
      priorityClassName: 'system-node-critical',
      automountServiceAccountToken: false,
      securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          name: 'helper-pod',
          image,
          imagePullPolicy: 'IfNotPresent',
          securityContext: { ...buildContainerSecurity('DAC_OVERRIDE', 'FOWNER'), runAsUser: 0 },
        },
      ],
    },
  }
}
