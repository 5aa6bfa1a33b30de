import { stringify } from 'yaml'
import type { StorageSettings } from '../../spec/addons.ts'
import { buildContainerSecurity } from '../manifest-helpers.ts'

/** Configuration files of the provisioner. It reloads them by itself. */
export function buildLocalPathConfig({ path }: StorageSettings, helperImage: string): Record<string, string> {
  const nodePathMap = [{ node: 'DEFAULT_PATH_FOR_NON_LISTED_NODES', paths: [path] }]
  return {
    'config.json': JSON.stringify({ nodePathMap }, undefined, 2),
    setup,
    teardown,
    'helperPod.yaml': stringify(buildHelperPod(helperImage)),
  }
}

/** Any user of a pod may write into its volume. On the host only root can reach the directory. */
const setup = `#!/bin/sh
set -eu
mkdir -m 0777 -p "$VOL_DIR"
chmod 0700 "$VOL_DIR/.."
`

const teardown = `#!/bin/sh
set -eu
rm -rf "$VOL_DIR"
`

/** Creates or removes the directory of a volume on a node. Its files may belong to any user. */
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
