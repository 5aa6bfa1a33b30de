import { join } from '../host/host-path.ts'
import { digestOf } from '../../diff/digest.ts'
import { Secret } from '../../pki/secret.ts'
import type { Host } from '../host/host.ts'
import { accessOf } from './planned-access.ts'
import type { CertificateWish } from './certificate-problems.ts'

/** A key that was made and is not in use yet. Its certificate joins it before either is put in place. */
export interface Pending {
  readonly privateKey: Secret
  /** PEM, as the certificate. */
  readonly request: string
  readonly certificate: string | undefined
}

/** Which certificate, and what it shall say: with another wish a new key is made. */
export interface PendingName extends CertificateWish {
  readonly certificateFile: string
}

const names = { privateKey: 'key.pem', request: 'request.pem', certificate: 'certificate.pem' } as const

export function pendingRoot({ layout }: Pick<Host, 'layout'>): string {
  return join(layout.state, 'pending')
}

export function pendingDirectory(host: Pick<Host, 'layout'>, name: PendingName): string {
  const { certificateFile, authority, subject, names: servers, usages, lifetime } = name
  const digest = digestOf({ certificateFile, authority, subject, servers, usages, lifetime })
  return join(pendingRoot(host), digest.slice(0, 32))
}

export async function readPending(host: Host, name: PendingName): Promise<Pending | undefined> {
  const directory = pendingDirectory(host, name)
  const read = async (file: string): Promise<string | undefined> =>
    (await host.files.read(join(directory, file)))?.toString('utf8')
  const [privateKey, request] = [await read(names.privateKey), await read(names.request)]
  if (privateKey === undefined || request === undefined) return undefined
  return {
    privateKey: new Secret(name.certificateFile, privateKey),
    request,
    certificate: await read(names.certificate),
  }
}

/** The key before its request: a request without a key would be signed for nothing. */
export async function writePending(
  host: Host,
  name: PendingName,
  { privateKey, request }: Pick<Pending, 'privateKey' | 'request'>,
): Promise<void> {
  const directory = pendingDirectory(host, name)
  const secret = await accessOf(host, { owner: 'root', mode: '0600' })
  await host.files.makeDirectory(directory, { ...secret, mode: 0o700 })
  await host.files.write(join(directory, names.privateKey), privateKey.reveal(), secret)
  await host.files.write(join(directory, names.request), Buffer.from(request), secret)
}

export async function addCertificate(host: Host, name: PendingName, certificate: string): Promise<void> {
  const access = await accessOf(host, { owner: 'root', mode: '0600' })
  const file = join(pendingDirectory(host, name), names.certificate)
  await host.files.write(file, Buffer.from(certificate), access)
}

export async function dropPending(host: Host, name: PendingName): Promise<void> {
  await host.files.removeTree(pendingDirectory(host, name))
}
