import type { ManagerSettings } from '../contract/manager-settings.ts'
import { isSecret } from './secret.ts'
import { type AddonInput, hostDependent, wishedAddons } from './desired-addons.ts'

type SteadyAddons = NonNullable<ManagerSettings['addons']>

/**
 * Addons that follow from cluster.yml and its files alone, whatever hosts there are, and hold no secret: what controllers on
 * control planes may know of addons without being told anew whenever a worker comes or goes.
 */
export function steadyAddons(input: Pick<AddonInput, 'cluster' | 'images' | 'sources'>): SteadyAddons {
  const { addons } = wishedAddons({ ...input, metricsCertificate: undefined, resolvers: [] })
  return addons
    .filter(({ name, manifests }) => !hostDependent.has(name) && !manifests.some(isSecret))
    .map(({ name, manifests, force }) => ({
      name,
      manifests: [...manifests],
      ...(force === true ? { force } : {}),
    }))
}
