import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto'
import { type CertificateSpec, certificateSpec } from '../contract/certificate-spec.ts'
import { HyperkubeError } from '../kit/errors.ts'
import type { Ca } from './ca.ts'
import { checkRequest } from './check-request.ts'
import { inspectCertificate } from './certificates.ts'
import { encodeCertificate, loadAsn1 } from './encode-certificate.ts'
import { findSignatureAlgorithm, makeKeyPair, type Random, systemRandom } from './keys.ts'
import { intersectValidity, isValid, validityFrom } from './lifetime.ts'
import type { Secret } from './secret.ts'
import { loadX509, namesExtension, serialNumber } from './x509.ts'

/**
 * Signs the key of a certificate signing request and returns the certificate as PEM. All other content comes
 * from the spec.
 */
export async function signRequest(
  ca: Ca,
  request: string,
  spec: CertificateSpec,
  now: Date,
  random: Random = systemRandom,
): Promise<string> {
  checkSpec(spec)
  const sign = await createSigner(ca, now, random)
  return sign(request, spec)
}

/** Signs the key of a request with one CA. See `signRequest`. */
export type SignRequest = (request: string, spec: CertificateSpec) => Promise<string>

/**
 * Checks a CA once and returns a function that signs with it. Checking the CA for each request would be slow,
 * because an operator signs for thousands of hosts.
 */
export async function createSigner(ca: Ca, now: Date, random: Random = systemRandom): Promise<SignRequest> {
  const signKey = await createKeySigner(ca, now, random)
  const x509 = await loadX509()
  return async (request, spec) => {
    checkSpec(spec)
    return signKey(checkRequest(x509, request, spec), spec)
  }
}

/** A new private key and its certificate. */
export interface IssuedCertificate {
  /** Certificate as PEM. */
  readonly certificate: string
  readonly privateKey: Secret
}

/**
 * Creates a key and signs its certificate. No request is needed, because the key is created here. `keyName`
 * is the name of the key in log output.
 */
export async function issueCertificate(
  ca: Ca,
  keyName: string,
  spec: CertificateSpec,
  now: Date,
  random: Random = systemRandom,
): Promise<IssuedCertificate> {
  checkSpec(spec)
  const signKey = await createKeySigner(ca, now, random)
  const { publicKey, privateKey } = await makeKeyPair(keyName)
  const der = createPublicKey(publicKey).export({ type: 'spki', format: 'der' })
  return { certificate: await signKey(new Uint8Array(der), spec), privateKey }
}

/** Signs a public key, which is a SubjectPublicKeyInfo as DER. */
type SignKey = (publicKey: Uint8Array<ArrayBuffer>, spec: CertificateSpec) => Promise<string>

async function createKeySigner(ca: Ca, now: Date, random: Random): Promise<SignKey> {
  const { issuer, certificate, key } = checkCa(ca, now)
  const asn1 = await loadAsn1()
  const signer = {
    certificate,
    keyId: issuer.subjectKeyId,
    key,
    algorithm: findSignatureAlgorithm(key, ca.privateKey.name),
  }
  return async (publicKey, { subject, names, usages, lifetime }) => {
    const der = await encodeCertificate(asn1, signer, {
      serial: serialNumber(random),
      ...{ subject, usages, publicKey },
      validity: intersectValidity(validityFrom(now, lifetime), issuer),
      extensions: hasNames(names) ? namesExtension(await loadX509(), names) : [],
    })
    return new X509Certificate(der).toString()
  }
}

function hasNames({ dns, ip }: CertificateSpec['names']): boolean {
  return dns.length + ip.length > 0
}

function checkSpec(spec: CertificateSpec): void {
  const [issue] = certificateSpec.safeParse(spec).error?.issues ?? []
  if (issue === undefined) return
  throw new HyperkubeError(
    'PKI_INVALID_SPEC',
    `a planned certificate is invalid: ${issue.path.join('.')} ${issue.message}`,
    {
      hint: 'check the names in cluster.yml: hyperkube validate',
    },
  )
}

/** Returns the content of a CA's certificate and its private key. Throws if the CA cannot sign now. */
function checkCa({ name, certificate: pem, privateKey }: Ca, now: Date) {
  const issuer = inspectCertificate(pem)
  if (!isValid(issuer, now)) {
    const period = `from ${issuer.notBefore.toISOString()} to ${issuer.notAfter.toISOString()}`
    throw new HyperkubeError('PKI_CA_NOT_VALID', `the CA ${name} is only valid ${period}`, {
      hint: `the clock of this machine shows ${now.toISOString()}; correct the clock, or rotate the CA: hyperkube certs rotate-ca ${name}`,
    })
  }
  const certificate = new X509Certificate(pem)
  const key = createPrivateKey(privateKey.revealText())
  if (!issuer.isCa || !certificate.checkPrivateKey(key)) {
    throw new HyperkubeError('PKI_CA_BROKEN', `certificate and key of the CA ${name} do not match`, {
      hint: 'restore cluster.identity from a backup',
    })
  }
  return { issuer, certificate: certificate.raw, key }
}
