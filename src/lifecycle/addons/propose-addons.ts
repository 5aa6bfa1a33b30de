import { z } from 'zod'
import { findKubernetesRelease } from '../../catalog/catalog.ts'
import { pinnedImages } from '../../catalog/lock.ts'
import type { Facts } from '../../contract/facts.ts'
import type { Identity } from '../../identity/identity.ts'
import { trustedCas } from '../../identity/trusted-keys.ts'
import type { KubeClient } from '../../kube/client.ts'
import { type Kind, kubeObject } from '../../kube/object.ts'
import { findObject } from '../../kube/read-objects.ts'
import { inspectCertificate } from '../../pki/certificates.ts'
import { isRenewalDue, year } from '../../pki/lifetime.ts'
import { issueCertificate } from '../../pki/sign.ts'
import type { ClusterInputs } from '../inputs/cluster-inputs.ts'
import { type AddonProposal, type AddonProposalInput, compareAddons, proposeAllAddons } from './proposal.ts'

const metricsNames = ['metrics-server.kube-system.svc', 'metrics-server.kube-system']
const metricsSecret = { namespace: 'kube-system', name: 'metrics-server' }

const tlsData = z.object({ 'tls.crt': z.base64(), 'tls.key': z.base64() })
const schema = kubeObject.extend({ data: z.record(z.string(), z.string()).optional() })
const secretKind: Kind<z.infer<typeof schema>> = { apiVersion: 'v1', kind: 'Secret', schema }

export interface ServingCertificateInput {
  readonly identity: Identity
  readonly now: Date
}

/** Builds the input for the addon proposal from the cluster inputs and the facts of hosts. */
export function buildAddonInput(
  {
    cluster,
    catalog,
    lock,
    sources,
    charts,
  }: Pick<ClusterInputs, 'cluster' | 'catalog' | 'lock' | 'sources' | 'charts'>,
  facts: ReadonlyMap<string, Facts>,
): AddonProposalInput {
  const resolvers = [...facts.values()].flatMap(({ system }) =>
    system.os === 'linux' ? [system.resolver.servers] : [],
  )
  const images = pinnedImages(lock, findKubernetesRelease(catalog, cluster.spec.kubernetes))
  return { cluster, images, sources, charts, resolvers }
}

/** Proposes all addons for a cluster that does not exist yet. */
export async function proposeNewAddons(
  input: AddonProposalInput,
  { identity, now }: ServingCertificateInput,
): Promise<AddonProposal> {
  const metricsCertificate = await ensureServingCertificate(metricsNames, undefined, identity, now)
  return proposeAllAddons({ ...input, metricsCertificate })
}

/** Proposes the addon changes for a running cluster. */
export async function proposeAddonChanges(
  api: KubeClient,
  input: AddonProposalInput,
  { identity, now }: ServingCertificateInput,
): Promise<AddonProposal> {
  const metricsCertificate = await ensureServingCertificate(
    metricsNames,
    await readMetricsCertificate(api),
    identity,
    now,
  )
  return compareAddons(api, { ...input, metricsCertificate })
}

async function readMetricsCertificate(
  api: KubeClient,
): Promise<Pick<ServingCertificate, 'certificate' | 'privateKey'> | undefined> {
  const parsed = tlsData.safeParse((await findObject(api, secretKind, metricsSecret))?.data)
  if (!parsed.success) return undefined
  const text = (encoded: string): string => Buffer.from(encoded, 'base64').toString()
  return { certificate: text(parsed.data['tls.crt']), privateKey: text(parsed.data['tls.key']) }
}

/** Serving certificate of a program in the cluster, as PEM. */
interface ServingCertificate {
  /** CA bundle; several certificates while a CA is being replaced. */
  readonly ca: string
  readonly certificate: string
  readonly privateKey: string
}

/**
 * Lifetime of a serving certificate. It is long, because only an operator's command renews the certificate,
 * and a cluster may run for years without one.
 */
const lifetime = 10 * year

/**
 * Returns the existing certificate while it is valid, otherwise a new certificate. Repeated calls therefore
 * cause no changes.
 */
export async function ensureServingCertificate(
  names: readonly string[],
  existing: Pick<ServingCertificate, 'certificate' | 'privateKey'> | undefined,
  { cas }: Pick<Identity, 'cas'>,
  now: Date,
): Promise<ServingCertificate> {
  const { certificate: signer } = cas.kubernetes
  const ca = trustedCas(cas.kubernetes)
  if (existing !== undefined && isUsable(existing.certificate, names, signer, now)) return { ca, ...existing }
  const subject = { commonName: names[0] ?? '', organizations: [] }
  const spec = {
    subject,
    names: { dns: [...names], ip: [] },
    usages: ['server' as const],
    lifetime,
  }
  const { certificate, privateKey } = await issueCertificate(cas.kubernetes, 'serving key', spec, now)
  return { ca, certificate, privateKey: privateKey.revealText() }
}

function isUsable(pem: string, names: readonly string[], ca: string, now: Date): boolean {
  try {
    const found = inspectCertificate(pem)
    const isSignedByCa = found.issuerKeyId === inspectCertificate(ca).subjectKeyId
    return isSignedByCa && names.every((name) => found.names.dns.includes(name)) && !isRenewalDue(found, now)
  } catch {
    return false
  }
}
