import { createPrivateKey, X509Certificate } from 'node:crypto'
import { HyperkubeError } from '../kit/errors.ts'
import type { Authority } from './ca.ts'
import { checkRequest } from './check-request.ts'
import { inspectCertificate } from './inspect.ts'
import { signingKey } from './keys.ts'
import { isValid, validityFrom, within } from './lifetime.ts'
import { type Random, systemRandom } from './random.ts'
import { serialNumber } from './serial.ts'
import { nameOf, namesExtension } from './subject.ts'
import { type Wish, wish as wishSchema } from '../contract/certificate-spec.ts'
import { loadX509, type X509 } from './x509.ts'

/**
 * The certificate, as PEM, for a request's key. All that it says is from the wish; the request only proves that the key
 * is its sender's.
 */
export async function signRequest(
  authority: Authority,
  request: string,
  wish: Wish,
  now: Date,
  random: Random = systemRandom,
): Promise<string> {
  checkWish(wish)
  const issuer = checkAuthority(authority, now)
  const x509 = await loadX509()
  const publicKey = checkRequest(x509, request, wish)
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: serialNumber(random),
    subject: nameOf(x509, wish.subject),
    issuer: new x509.X509Certificate(authority.certificate).subjectName,
    ...within(validityFrom(now, wish.lifetime), issuer),
    publicKey,
    signingKey: signingKey(authority.privateKey),
    signingAlgorithm: { name: 'ECDSA', hash: 'SHA-256' },
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension(wish.usages.map((usage) => purpose(x509, usage))),
      await x509.SubjectKeyIdentifierExtension.create(publicKey),
      new x509.AuthorityKeyIdentifierExtension(issuer.subjectKeyId),
      ...namesExtension(x509, wish.names),
    ],
  })
  return `${certificate.toString('pem')}\n`
}

function purpose({ ExtendedKeyUsage }: X509, usage: Wish['usages'][number]): string {
  return usage === 'server' ? ExtendedKeyUsage.serverAuth : ExtendedKeyUsage.clientAuth
}

function checkWish(wish: Wish): void {
  const [issue] = wishSchema.safeParse(wish).error?.issues ?? []
  if (issue === undefined) return
  throw new HyperkubeError(
    'PKI_WISH',
    `a planned certificate is wrong: ${issue.path.join('.')} ${issue.message}`,
    {
      hint: 'hyperkube validate looks for names in cluster.yml that cannot be',
    },
  )
}

function checkAuthority({ name, certificate, privateKey }: Authority, now: Date) {
  const issuer = inspectCertificate(certificate)
  if (!isValid(issuer, now)) {
    const period = `from ${issuer.notBefore.toISOString()} to ${issuer.notAfter.toISOString()}`
    throw new HyperkubeError('PKI_AUTHORITY_NOT_VALID', `the authority ${name} is only valid ${period}`, {
      hint: `it is ${now.toISOString()} here; look at the clock, or renew the authority`,
    })
  }
  const { subjectKeyId } = issuer
  const fits = new X509Certificate(certificate).checkPrivateKey(createPrivateKey(privateKey.revealText()))
  if (!issuer.authority || subjectKeyId === undefined || !fits) {
    throw new HyperkubeError(
      'PKI_AUTHORITY_BROKEN',
      `certificate and key of the authority ${name} do not fit`,
      {
        hint: 'take the identity from a backup',
      },
    )
  }
  return { ...issuer, subjectKeyId }
}
