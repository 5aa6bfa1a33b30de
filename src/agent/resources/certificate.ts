import type { PlannedCertificate } from '../../contract/component-plan.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import type { Host } from '../host/host.ts'
import { type CertificatePair, findCertificateProblems } from './certificate-problems.ts'
import {
  certificateMode,
  findPairProblem,
  findPlanCas,
  keyMode,
  readInstalledPair,
} from './installed-key-pair.ts'
import {
  addPendingCertificate,
  deletePendingCertificate,
  findPendingReplacement,
  readPendingCertificate,
} from './pending-certificate-store.ts'
import { resolveAccess } from '../host/file-access.ts'
import {
  type MakeContext,
  type ManagedResource,
  type ResourceHandler,
  wasAbsent,
  wasRemoved,
} from './resource-handler.ts'

export const certificateHandler: ResourceHandler<'certificate', PlannedCertificate> = {
  target: 'certificate',
  findSpec: ({ certificates }, name) => certificates.find(({ certificateFile }) => certificateFile === name),

  async inspect(resource, { host, plan, renew = false }) {
    if ((await host.files.stat(resource.name)) === undefined) return 'absent'
    const planned = toPlannedCertificate(resource)
    const problem = await findPairProblem(host, planned, plan)
    if (problem !== undefined) return { drift: problem.text, due: problem.due }
    const pending = renew || (await findPendingReplacement(host, planned)) !== undefined
    return pending ? { drift: 'due for renewal', due: true } : 'as-written'
  },

  async make(spec, context) {
    const { host, plan, head } = context
    const { owner, keyFile, ca, subject, names, usages, lifetime } = spec
    const recorded = { owner, keyFile, ca, subject, names, usages, lifetime }
    const resource: ManagedResource<'certificate'> = { ...head, target: 'certificate', ...recorded }
    const pending = await findPendingReplacement(host, spec)
    const hasCertificate =
      (pending?.certificate ?? context.certificates.get(spec.certificateFile)) !== undefined
    if (
      (pending === undefined || !hasCertificate) &&
      (await findPairProblem(host, spec, plan)) === undefined
    ) {
      await deletePendingCertificate(host, spec)
      return { changed: false, resource }
    }
    const pair = await findPairToInstall(spec, context)
    if (pair !== undefined) await installPair(host, spec, pair)
    else await repairAccess(host, spec)
    await deletePendingCertificate(host, spec)
    return { changed: true, resource }
  },

  async remove({ name, keyFile }, { host }) {
    const gone = [await host.files.remove(keyFile), await host.files.remove(name)]
    return gone.includes(true) ? wasRemoved : wasAbsent
  },
}

function toPlannedCertificate(resource: ManagedResource<'certificate'>): PlannedCertificate {
  const { name, owner, keyFile, ca, subject, names, usages, lifetime } = resource
  return { certificateFile: name, owner, keyFile, ca, subject, names, usages, lifetime }
}

/**
 * Returns the key pair to install: the pending key with its certificate. The certificate was delivered to
 * this run, or an interrupted run has already stored it. Returns undefined if the installed pair is valid;
 * then only owner and mode are set.
 */
async function findPairToInstall(
  spec: PlannedCertificate,
  context: MakeContext,
): Promise<CertificatePair | undefined> {
  const { host, plan, certificates, component } = context
  const cas = findPlanCas(plan, spec.ca)
  const listProblems = (pair: CertificatePair): readonly string[] =>
    findCertificateProblems(pair, spec, cas, host.clock.now()).map(({ text }) => text)
  const pending = await readPendingCertificate(host, spec)
  const privateKey = pending?.privateKey.revealText()
  const delivered = certificates.get(spec.certificateFile)
  if (pending !== undefined && privateKey !== undefined) {
    const candidates = [delivered, pending.certificate].filter((pem) => pem !== undefined)
    const valid = candidates.find((pem) => listProblems({ certificate: pem, privateKey }).length === 0)
    if (valid !== undefined) {
      await addPendingCertificate(host, spec, valid)
      return { certificate: valid, privateKey }
    }
    if (delivered !== undefined)
      throw certificateRefused(spec, listProblems({ certificate: delivered, privateKey }), component.name)
  }
  const { certificate: installed, privateKey: key } = await readInstalledPair(host, spec)
  if (
    installed !== undefined &&
    key !== undefined &&
    listProblems({ certificate: installed, privateKey: key }).length === 0
  ) {
    return undefined
  }
  throw new HyperkubeError(
    'APPLY_NO_CERTIFICATE',
    `the operator sent no certificate for ${spec.certificateFile}`,
    {
      component: component.name,
      hint: 'run the same command again: it signs the missing certificates',
    },
  )
}

/**
 * Installs key and certificate. If a run is interrupted between the two writes, the next run finds both in
 * the pending directory.
 */
async function installPair(
  host: Host,
  { certificateFile, keyFile, owner }: PlannedCertificate,
  pair: CertificatePair,
): Promise<void> {
  const key = await resolveAccess(host, { owner, mode: keyMode })
  const open = await resolveAccess(host, { owner, mode: certificateMode })
  await host.files.write(keyFile, Buffer.from(pair.privateKey), key)
  await host.files.write(certificateFile, Buffer.from(pair.certificate), open)
}

async function repairAccess(host: Host, spec: PlannedCertificate): Promise<void> {
  const { certificate: pem, privateKey } = await readInstalledPair(host, spec)
  if (pem !== undefined && privateKey !== undefined)
    await installPair(host, spec, { certificate: pem, privateKey })
}

function certificateRefused(
  spec: PlannedCertificate,
  problems: readonly string[],
  component: string,
): HyperkubeError {
  const message = `the certificate for ${spec.certificateFile} does not match the plan: ${problems.join('; ')}`
  return new HyperkubeError('APPLY_CERTIFICATE_REFUSED', message, {
    component,
    hint: 'run the same command again; if the times are wrong, compare date -u on the host and on the signing machine',
  })
}
