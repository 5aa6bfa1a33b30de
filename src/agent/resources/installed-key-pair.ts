import type { X509Certificate } from 'node:crypto'
import type { PlannedCertificate } from '../../contract/component-plan.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import { caCommonNames, type CaName } from '../../pki/ca.ts'
import { parseCertificates } from '../../pki/certificates.ts'
import type { Host } from '../host/host.ts'
import {
  type CertificatePair,
  type CertificateProblem,
  findCertificateProblems,
} from './certificate-problems.ts'
import { findAccessDrift } from '../host/file-access.ts'

export const certificateMode = '0644'
export const keyMode = '0600'

export async function readInstalledPair(
  { files }: Host,
  { certificateFile, keyFile }: Pick<PlannedCertificate, 'certificateFile' | 'keyFile'>,
): Promise<Partial<CertificatePair>> {
  const [certificate, privateKey] = [await files.read(certificateFile), await files.read(keyFile)]
  return {
    ...(certificate === undefined ? {} : { certificate: certificate.toString('utf8') }),
    ...(privateKey === undefined ? {} : { privateKey: privateKey.toString('utf8') }),
  }
}

/**
 * Returns the most serious problem of an installed certificate and its key; undefined if both match the plan.
 */
export async function findPairProblem(
  host: Host,
  planned: PlannedCertificate,
  plan: NodePlan | undefined,
): Promise<CertificateProblem | undefined> {
  const { certificate, privateKey } = await readInstalledPair(host, planned)
  if (certificate === undefined) return { text: 'missing', due: false }
  if (privateKey === undefined) return { text: 'its key is missing', due: false }
  const cas = plan === undefined ? undefined : findPlanCas(plan, planned.ca)
  const problems = findCertificateProblems({ certificate, privateKey }, planned, cas, host.clock.now())
  const drift = await findAccessProblem(host, planned)
  return problems.find(({ due }) => !due) ?? (drift === undefined ? problems[0] : { text: drift, due: false })
}

/** Describes a wrong owner or mode of the certificate or key file; undefined if both are right. */
async function findAccessProblem(
  host: Host,
  { certificateFile, keyFile, owner }: Pick<PlannedCertificate, 'certificateFile' | 'keyFile' | 'owner'>,
): Promise<string | undefined> {
  for (const [path, mode] of [
    [certificateFile, certificateMode],
    [keyFile, keyMode],
  ] as const) {
    const facts = await host.files.stat(path)
    if (facts?.kind !== 'file') return `${path} is not a regular file`
    const drift = await findAccessDrift(host, facts, { owner, mode })
    if (drift !== undefined) return drift
  }
  return undefined
}

/** Paths of files with CAs of etcd. */
const etcdCaFile = /\/etcd[/-]ca\.crt$/

/**
 * Returns the CA certificates with this name that the plan puts into files for components to trust. During a
 * CA rotation there are several; the first one signs. The CA of RKE1 has one name for the cluster and for etcd,
 * so the file decides between both.
 */
export function findPlanCas(plan: NodePlan, name: CaName): readonly X509Certificate[] {
  const texts = plan.components.flatMap(({ files }) =>
    files.flatMap(({ path, content }) =>
      content.kind === 'text' && etcdCaFile.test(path) === (name === 'etcd') ? [content.text] : [],
    ),
  )
  const byFingerprint = new Map(
    [...new Set(texts)].flatMap(parseCertificates).map((one) => [one.fingerprint256, one] as const),
  )
  const subjects = new Set(caCommonNames[name].map((commonName) => `CN=${commonName}`))
  return [...byFingerprint.values()].filter(({ ca, subject }) => ca && subjects.has(subject))
}
