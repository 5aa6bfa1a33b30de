import type { ManagerSettings } from '../contract/manager-settings.ts'
import { isSecret } from './secret.ts'
import { type AddonInput, hostDependentAddons, listDesiredAddons } from './desired-addons.ts'

type HostIndependentAddons = NonNullable<ManagerSettings['addons']>

/**
 * Lists the addons that depend only on cluster.yml and its files, not on hosts, and contain no Secret.
 * Controllers need no new settings for them when a worker joins or leaves.
 */
export function listHostIndependentAddons(
  input: Pick<AddonInput, 'cluster' | 'images' | 'sources'>,
): HostIndependentAddons {
  const { addons } = listDesiredAddons({ ...input, metricsCertificate: undefined, resolvers: [] })
  return addons
    .filter(({ name, manifests }) => !hostDependentAddons.has(name) && !manifests.some(isSecret))
    .map(({ name, manifests, force }) => ({
      name,
      manifests: [...manifests],
      ...(force === true ? { force } : {}),
    }))
}
