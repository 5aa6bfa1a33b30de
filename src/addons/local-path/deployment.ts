import type { Manifest } from '../../kube/object.ts'
import type { StorageSettings } from '../../spec/addons.ts'
import {
  buildAppLabels,
  buildContainerSecurity,
  addonNamespace,
  buildNamespacedMetadata,
  controlPlaneTolerations,
  buildPlacement,
  buildResources,
  buildPodSecurity,
} from '../manifest-helpers.ts'

export const localPathApp = 'local-path-provisioner'

const configMount = '/etc/config'

export function buildLocalPathDeployment(settings: StorageSettings, image: string): Manifest {
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
          ...buildPlacement(settings, controlPlaneTolerations),
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
    // Directory in which the provisioner finds a changed helper pod.
    env: [{ name: 'CONFIG_MOUNT_PATH', value: configMount }],
    resources: buildResources(settings, { requests: { cpu: '10m', memory: '32Mi' } }),
    securityContext: buildContainerSecurity(),
    volumeMounts: [{ name: 'config', mountPath: configMount, readOnly: true }],
  }
}
