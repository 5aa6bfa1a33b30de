import type { Manifest } from '../../kube/object.ts'
import type { StorageSettings } from '../../spec/addons.ts'
import {
  labelsOf,
  locked,
  namespace,
  namespaced,
  onControlPlanes,
  placement,
  resourcesOf,
  unprivileged,
} from '../manifest-helpers.ts'

export const app = 'local-path-provisioner'

const config = '/etc/config'

export function deployment(settings: StorageSettings, image: string): Manifest {
  const selector = labelsOf(app)
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: namespaced('local-path-provisioner', app),
    spec: {
      // It elects no leader: two at once would both make each volume.
      replicas: 1,
      strategy: { type: 'Recreate' },
      selector: { matchLabels: selector },
      template: {
        metadata: { labels: selector },
        spec: {
          serviceAccountName: app,
          ...placement(settings, onControlPlanes),
          securityContext: unprivileged(65_534),
          containers: [container(settings, image)],
          volumes: [{ name: 'config', configMap: { name: 'local-path-config' } }],
        },
      },
    },
  }
}

function container(settings: StorageSettings, image: string): Record<string, unknown> {
  return {
    name: 'local-path-provisioner',
    image,
    imagePullPolicy: 'IfNotPresent',
    command: ['/usr/bin/local-path-provisioner', 'start'],
    args: [
      `--config=${config}/config.json`,
      `--helper-pod-file=${config}/helperPod.yaml`,
      '--configmap-name=local-path-config',
      `--namespace=${namespace}`,
      `--service-account-name=${app}`,
    ],
    // Where it looks for a helper that has changed.
    env: [{ name: 'CONFIG_MOUNT_PATH', value: config }],
    resources: resourcesOf(settings, { requests: { cpu: '10m', memory: '32Mi' } }),
    securityContext: locked(),
    volumeMounts: [{ name: 'config', mountPath: config, readOnly: true }],
  }
}
