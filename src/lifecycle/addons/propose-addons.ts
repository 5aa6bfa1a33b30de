import { z } from 'zod'
import { catalogFor } from '../../catalog/catalog.ts'
import { pinnedImages } from '../../catalog/lock.ts'
import type { Facts } from '../../contract/facts.ts'
import type { Identity } from '../../identity/identity.ts'
import type { KubeClient } from '../../kube/client.ts'
import { type Kind, kubeObject } from '../../kube/object.ts'
import { find } from '../../kube/read-objects.ts'
import type { Wish } from '../build-proposal.ts'
import { type AddonProposal, type AddonWish, foreseeAddons, lookAtAddons } from './proposal.ts'
import { type ServingCertificate, servingCertificate } from './serving-certificate.ts'

const metricsNames = ['metrics-server.kube-system.svc', 'metrics-server.kube-system']
const metricsSecret = { namespace: 'kube-system', name: 'metrics-server' }

const tlsData = z.object({ 'tls.crt': z.base64(), 'tls.key': z.base64() })
const schema = kubeObject.extend({ data: z.record(z.string(), z.string()).optional() })
const secretKind: Kind<z.infer<typeof schema>> = { apiVersion: 'v1', kind: 'Secret', schema }

export interface Vouching {
  readonly identity: Identity
  readonly now: Date
}

/** What a wish and the hosts say of the addons that a cluster shall have. */
export function addonsOf(
  { cluster, lock, sources }: Pick<Wish, 'cluster' | 'lock' | 'sources'>,
  facts: ReadonlyMap<string, Facts>,
): AddonWish {
  const resolvers = [...facts.values()].flatMap(({ system }) =>
    system.os === 'linux' ? [system.resolver.servers] : [],
  )
  const images = pinnedImages(lock, catalogFor(cluster.spec.kubernetes))
  return { cluster, images, sources, resolvers }
}

/** What would be put into a cluster that is not there yet. */
export async function foreseen(wish: AddonWish, { identity, now }: Vouching): Promise<AddonProposal> {
  const metricsCertificate = await servingCertificate(metricsNames, undefined, identity, now)
  return foreseeAddons({ ...wish, metricsCertificate })
}

/** What would be changed in one that runs. */
export async function addonsInside(
  api: KubeClient,
  wish: AddonWish,
  { identity, now }: Vouching,
): Promise<AddonProposal> {
  const metricsCertificate = await servingCertificate(metricsNames, await held(api), identity, now)
  return lookAtAddons(api, { ...wish, metricsCertificate })
}

async function held(
  api: KubeClient,
): Promise<Pick<ServingCertificate, 'certificate' | 'privateKey'> | undefined> {
  const parsed = tlsData.safeParse((await find(api, secretKind, metricsSecret))?.data)
  if (!parsed.success) return undefined
  const text = (encoded: string): string => Buffer.from(encoded, 'base64').toString()
  return { certificate: text(parsed.data['tls.crt']), privateKey: text(parsed.data['tls.key']) }
}
