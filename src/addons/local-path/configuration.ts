import { stringify } from 'yaml'
import type { StorageSettings } from '../../spec/addons.ts'
import { locked } from '../manifest-helpers.ts'

/** Files of the provisioner. It reads them again by itself when they change. */
export function configuration({ path }: StorageSettings, helperImage: string): Record<string, string> {
  const nodePathMap = [{ node: 'DEFAULT_PATH_FOR_NON_LISTED_NODES', paths: [path] }]
  return {
    'config.json': JSON.stringify({ nodePathMap }, undefined, 2),
    setup,
    teardown,
    'helperPod.yaml': stringify(helperPod(helperImage)),
  }
}

/** Any user of a pod may write into its volume; on the host only root finds the way there. */
const setup = `#!/bin/sh
set -eu
mkdir -m 0777 -p "$VOL_DIR"
chmod 0700 "$VOL_DIR/.."
`

const teardown = `#!/bin/sh
set -eu
rm -rf "$VOL_DIR"
`

/** It makes or removes the directory of a volume on a node, whose files may belong to anybody. */
function helperPod(image: string): Record<string, unknown> {
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
          securityContext: { ...locked('DAC_OVERRIDE', 'FOWNER'), runAsUser: 0 },
        },
      ],
    },
  }
}
