import { stringify } from 'yaml'
import type { StorageSettings } from '../../spec/addons.ts'
import { buildContainerSecurity } from '../manifest-helpers.ts'

/** Builds the configuration files of the provisioner, which reloads them without a restart. */
export function buildLocalPathConfig({ path }: StorageSettings, helperImage: string): Record<string, string> {
  const nodePathMap = [{ node: 'DEFAULT_PATH_FOR_NON_LISTED_NODES', paths: [path] }]
  return {
    'config.json': JSON.stringify({ nodePathMap }, undefined, 2),
    setup,
    teardown,
    'helperPod.yaml': stringify(buildHelperPod(helperImage)),
  }
}

/**
 * Creates the directory of a volume. Any user in a pod may write into it, but on the host only root can reach
 * it.
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
 * Builds the pod that creates or removes the directory of a volume on a node. It must be able to delete files
 * of any user.
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
