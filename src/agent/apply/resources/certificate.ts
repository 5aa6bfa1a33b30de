import type { PlannedCertificate } from '../../../contract/component-plan.ts'
import { HyperkubeError } from '../../../kit/errors.ts'
import type { Host } from '../../host/host.ts'
import { accessOf } from '../planned-access.ts'
import { authoritiesOf } from '../plan-cas.ts'
import { certificateFaults, type CertificatePair } from '../certificate-problems.ts'
import { certificateMode, keyMode, pairFault, readPair } from '../installed-key-pair.ts'
import { addCertificate, dropPending, readPending } from '../pending-certificate-store.ts'
import { waitingPair } from '../pending-certificate.ts'
import { notThere, removed, type Target, type Thing, type Work } from '../resource-handler.ts'

export const certificate: Target<'certificate', PlannedCertificate> = {
  target: 'certificate',
  wish: ({ certificates }, name) => certificates.find(({ certificateFile }) => certificateFile === name),

  async inspect(thing, { host, plan, renew = false }) {
    if ((await host.files.stat(thing.name)) === undefined) return 'absent'
    const place = placeOf(thing)
    const fault = await pairFault(host, place, plan)
    if (fault !== undefined) return { drift: fault.text, due: fault.due }
    const waiting = renew || (await waitingPair(host, place)) !== undefined
    return waiting ? { drift: 'it is to be renewed', due: true } : 'as-written'
  },

  async make(wish, work) {
    const { host, plan, head } = work
    const { owner, keyFile, authority, subject, names, usages, lifetime } = wish
    const written = { owner, keyFile, authority, subject, names, usages, lifetime }
    const thing: Thing<'certificate'> = { ...head, target: 'certificate', ...written }
    const waiting = await waitingPair(host, wish)
    const isWaited = (waiting?.certificate ?? work.certificates.get(wish.certificateFile)) !== undefined
    if ((waiting === undefined || !isWaited) && (await pairFault(host, wish, plan)) === undefined) {
      await dropPending(host, wish)
      return { changed: false, thing }
    }
    const pair = await pairToInstall(wish, work)
    if (pair !== undefined) await install(host, wish, pair)
    else await mendAccess(host, wish)
    await dropPending(host, wish)
    return { changed: true, thing }
  },

  async remove({ name, keyFile }, { host }) {
    const gone = [await host.files.remove(keyFile), await host.files.remove(name)]
    return gone.includes(true) ? removed : notThere
  },
}

function placeOf(thing: Thing<'certificate'>): PlannedCertificate {
  const { name, owner, keyFile, authority, subject, names, usages, lifetime } = thing
  return { certificateFile: name, owner, keyFile, authority, subject, names, usages, lifetime }
}

/**
 * The one that came along, with the key it was asked for; or the one that a run before us was cut over. Nothing when
 * what is in place is right but for who may read it.
 */
async function pairToInstall(wish: PlannedCertificate, work: Work): Promise<CertificatePair | undefined> {
  const { host, plan, certificates, component } = work
  const authorities = authoritiesOf(plan, wish.authority)
  const faultsOf = (pair: CertificatePair): readonly string[] =>
    certificateFaults(pair, wish, authorities, host.clock.now()).map(({ text }) => text)
  const pending = await readPending(host, wish)
  const privateKey = pending?.privateKey.revealText()
  const brought = certificates.get(wish.certificateFile)
  if (pending !== undefined && privateKey !== undefined) {
    const candidates = [brought, pending.certificate].filter((pem) => pem !== undefined)
    const fit = candidates.find((pem) => faultsOf({ certificate: pem, privateKey }).length === 0)
    if (fit !== undefined) {
      await addCertificate(host, wish, fit)
      return { certificate: fit, privateKey }
    }
    if (brought !== undefined)
      throw refused(wish, faultsOf({ certificate: brought, privateKey }), component.name)
  }
  const { certificate: there, privateKey: key } = await readPair(host, wish)
  if (
    there !== undefined &&
    key !== undefined &&
    faultsOf({ certificate: there, privateKey: key }).length === 0
  ) {
    return undefined
  }
  throw new HyperkubeError('APPLY_NO_CERTIFICATE', `no certificate for ${wish.certificateFile} came along`, {
    component: component.name,
    hint: 'run the same command again: it asks the host what is missing, and has it signed',
  })
}

/** Whoever is cut between the two finds both in what is pending. */
async function install(
  host: Host,
  { certificateFile, keyFile, owner }: PlannedCertificate,
  pair: CertificatePair,
): Promise<void> {
  const key = await accessOf(host, { owner, mode: keyMode })
  const open = await accessOf(host, { owner, mode: certificateMode })
  await host.files.write(keyFile, Buffer.from(pair.privateKey), key)
  await host.files.write(certificateFile, Buffer.from(pair.certificate), open)
}

async function mendAccess(host: Host, wish: PlannedCertificate): Promise<void> {
  const { certificate: pem, privateKey } = await readPair(host, wish)
  if (pem !== undefined && privateKey !== undefined)
    await install(host, wish, { certificate: pem, privateKey })
}

function refused(wish: PlannedCertificate, faults: readonly string[], component: string): HyperkubeError {
  const message = `the certificate for ${wish.certificateFile} is not what was asked for: ${faults.join('; ')}`
  return new HyperkubeError('APPLY_CERTIFICATE_REFUSED', message, {
    component,
    hint: 'run the same command again; if times are named, compare the clocks of the host and of who signs',
  })
}
