import { computeDigest } from '../../diff/resource.ts'
import { Secret } from '../../pki/secret.ts'
import { join } from '../host/host-path.ts'
import type { Host } from '../host/host.ts'
import type { PlannedCertificateSpec } from './certificate-problems.ts'
import { readInstalledPair } from './installed-key-pair.ts'
import { resolveAccess } from '../host/file-access.ts'

/**
 * A new key that is not in use yet, with its request. The signed certificate is added before both are
 * installed.
 */
export interface PendingCertificate {
  readonly privateKey: Secret
  /** The certificate request as PEM. `certificate` is PEM too. */
  readonly request: string
  readonly certificate: string | undefined
}

/** Identifies a pending certificate by its file and its spec. A changed spec needs a new key. */
export interface PendingCertificateSpec extends PlannedCertificateSpec {
  readonly certificateFile: string
}

const fileNames = { privateKey: 'key.pem', request: 'request.pem', certificate: 'certificate.pem' } as const

export function pendingCertificateRoot({ layout }: Pick<Host, 'layout'>): string {
  return join(layout.state, 'pending')
}

export function pendingCertificateDirectory(
  host: Pick<Host, 'layout'>,
  spec: PendingCertificateSpec,
): string {
  const { certificateFile, ca, subject, names: serverNames, usages, lifetime } = spec
  const digest = computeDigest({
    certificateFile,
    ca,
    subject,
    servers: serverNames,
    usages,
    lifetime,
  })
  return join(pendingCertificateRoot(host), digest.slice(0, 32))
}

export async function readPendingCertificate(
  host: Host,
  spec: PendingCertificateSpec,
): Promise<PendingCertificate | undefined> {
  const directory = pendingCertificateDirectory(host, spec)
  const read = async (file: string): Promise<string | undefined> =>
    (await host.files.read(join(directory, file)))?.toString('utf8')
  const [privateKey, request] = [await read(fileNames.privateKey), await read(fileNames.request)]
  if (privateKey === undefined || request === undefined) return undefined
  return {
    privateKey: new Secret(spec.certificateFile, privateKey),
    request,
    certificate: await read(fileNames.certificate),
  }
}

/**
 * Writes the key before its request. Otherwise an interruption could leave a request without a key, and its
 * certificate would be useless.
 */
export async function writePendingRequest(
  host: Host,
  spec: PendingCertificateSpec,
  { privateKey, request }: Pick<PendingCertificate, 'privateKey' | 'request'>,
): Promise<void> {
  const directory = pendingCertificateDirectory(host, spec)
  const secret = await resolveAccess(host, { owner: 'root', mode: '0600' })
  await host.files.makeDirectory(directory, { ...secret, mode: 0o700 })
  await host.files.write(join(directory, fileNames.privateKey), privateKey.reveal(), secret)
  await host.files.write(join(directory, fileNames.request), Buffer.from(request), secret)
}

export async function addPendingCertificate(
  host: Host,
  spec: PendingCertificateSpec,
  certificate: string,
): Promise<void> {
  const access = await resolveAccess(host, { owner: 'root', mode: '0600' })
  const file = join(pendingCertificateDirectory(host, spec), fileNames.certificate)
  await host.files.write(file, Buffer.from(certificate), access)
}

export async function deletePendingCertificate(host: Host, spec: PendingCertificateSpec): Promise<void> {
  await host.files.removeTree(pendingCertificateDirectory(host, spec))
}

/**
 * Returns the pending key pair that will replace the installed pair. A pending key that equals the installed
 * key is ignored. In that case a run installed the key, but was interrupted before it deleted the pending
 * files.
 */
export async function findPendingReplacement(
  host: Host,
  planned: PendingCertificateSpec & { readonly keyFile: string },
): Promise<PendingCertificate | undefined> {
  const pending = await readPendingCertificate(host, planned)
  if (pending === undefined) return undefined
  const { privateKey } = await readInstalledPair(host, planned)
  return pending.privateKey.revealText() === privateKey ? undefined : pending
}
