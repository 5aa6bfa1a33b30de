import type { PlannedCertificate } from '../../contract/component-plan.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Host } from '../host/host.ts'
import { accessDrift } from './planned-access.ts'
import { authoritiesOf } from './plan-cas.ts'
import { type CertificateFault, certificateFaults, type CertificatePair } from './certificate-problems.ts'

export const certificateMode = '0644'
export const keyMode = '0600'

export async function readPair(
  { files }: Host,
  { certificateFile, keyFile }: Pick<PlannedCertificate, 'certificateFile' | 'keyFile'>,
): Promise<Partial<CertificatePair>> {
  const [certificate, privateKey] = [await files.read(certificateFile), await files.read(keyFile)]
  return {
    ...(certificate === undefined ? {} : { certificate: certificate.toString('utf8') }),
    ...(privateKey === undefined ? {} : { privateKey: privateKey.toString('utf8') }),
  }
}

/** What is wrong with the pair that is in place, the worst first; nothing when it is as wished. */
export async function pairFault(
  host: Host,
  place: PlannedCertificate,
  plan: NodePlan | undefined,
): Promise<CertificateFault | undefined> {
  const { certificate, privateKey } = await readPair(host, place)
  if (certificate === undefined) return { text: 'there is none', due: false }
  if (privateKey === undefined) return { text: 'its key is missing', due: false }
  const authorities = plan === undefined ? undefined : authoritiesOf(plan, place.authority)
  const faults = certificateFaults({ certificate, privateKey }, place, authorities, host.clock.now())
  const drift = await accessFault(host, place)
  return faults.find(({ due }) => !due) ?? (drift === undefined ? faults[0] : { text: drift, due: false })
}

/** Who may read the two files. */
async function accessFault(
  host: Host,
  { certificateFile, keyFile, owner }: Pick<PlannedCertificate, 'certificateFile' | 'keyFile' | 'owner'>,
): Promise<string | undefined> {
  for (const [path, mode] of [
    [certificateFile, certificateMode],
    [keyFile, keyMode],
  ] as const) {
    const facts = await host.files.stat(path)
    if (facts?.kind !== 'file') return `${path} is no plain file`
    const drift = await accessDrift(host, facts, { owner, mode })
    if (drift !== undefined) return drift
  }
  return undefined
}
