import { z } from 'zod'
import { parseVersion } from '../../catalog/version.ts'
import type { Finding } from '../../contract/finding.ts'
import { maxKubeletSkew } from '../../kit/version-skew.ts'
import type { KubeClient } from '../../kube/client.ts'
import { createUntypedKind } from '../../kube/object.ts'
import { findObject } from '../../kube/read-objects.ts'

const namespace = 'kube-system'
const name = 'kube-proxy'

const daemonSet = z.looseObject({
  spec: z.looseObject({
    template: z.looseObject({
      spec: z.looseObject({ containers: z.array(z.looseObject({ image: z.string().default('') })) }),
    }),
  }),
  status: z.looseObject({ currentNumberScheduled: z.int().default(0) }).optional(),
})

/**
 * Checks a kube-proxy that runs as the DaemonSet of kubeadm, as in a cluster adopted from kubeadm. hyperkube does not
 * manage it, so an upgrade leaves it behind.
 */
export async function checkKubeProxyVersion(api: KubeClient, desiredVersion: string): Promise<Finding[]> {
  const found = await findObject(
    api,
    createUntypedKind('apps/v1', 'DaemonSet'),
    { namespace, name },
    { timeout: 15_000 },
  )
  const { spec, status } = found === undefined ? {} : daemonSet.parse(found)
  if (spec === undefined || (status?.currentNumberScheduled ?? 0) === 0) return []
  const [, version] = /:v(\d+\.\d+\.\d+)/.exec(spec.template.spec.containers[0]?.image ?? '') ?? []
  return version === undefined ? [] : findKubeProxySkew(desiredVersion, version)
}

const setImage = `hyperkube kubectl -n ${namespace} set image daemonset/${name} ${name}=registry.k8s.io/kube-proxy:v`

/** Finds a kube-proxy that is older than the desired version, and refuses one that API servers do not support. */
export function findKubeProxySkew(desiredVersion: string, version: string): Finding[] {
  const [major, minor] = parseVersion(version)
  const skew = parseVersion(desiredVersion)[1] - minor
  if (skew <= 0) return []
  const code = 'UPGRADE_KUBE_PROXY'
  if (skew <= maxKubeletSkew)
    return [
      {
        code,
        severity: 'warning',
        message: `the DaemonSet ${name} stays at ${version}, because hyperkube does not manage it`,
        hint: `after the upgrade: ${setImage}${desiredVersion}`,
      },
    ]
  return [
    {
      code,
      severity: 'error',
      message: `the DaemonSet ${name} with ${version} is too old for API servers of ${desiredVersion}`,
      hint: `first upgrade at most to ${major}.${minor + maxKubeletSkew}, then set its image to the version of the API servers: ${setImage}VERSION`,
    },
  ]
}
