import { X509Certificate } from 'node:crypto'
import { z } from 'zod'
import type { KeyUsage } from '../contract/certificate-spec.ts'
import { HyperkubeError } from '../kit/errors.ts'
import { parseElements, parseNested, readExtensions } from './der.ts'
import type { Validity } from './lifetime.ts'
import { type AlternativeNames, formatIpBytes } from './names.ts'

/** Content of a certificate that hyperkube evaluates. */
export interface CertificateFacts extends Validity {
  readonly commonName: string | undefined
  readonly organizations: readonly string[]
  readonly names: AlternativeNames
  readonly usages: readonly KeyUsage[]
  /** True if the certificate belongs to a CA and may sign other certificates. */
  readonly isCa: boolean
  /** Serial number in hex. The key ids below are in hex too. */
  readonly serial: string
  readonly subjectKeyId: string | undefined
  /** Authority key identifier: identifies the key that signed this certificate. */
  readonly issuerKeyId: string | undefined
}

const extension = { subjectKeyId: '551d0e', names: '551d11', issuerKeyId: '551d23' } as const
const purposes: Readonly<Record<string, KeyUsage>> = {
  '1.3.6.1.5.5.7.3.1': 'server',
  '1.3.6.1.5.5.7.3.2': 'client',
}

const emptyBytes = new Uint8Array()

/** Values of one part of a subject. Node.js returns a string for one value and an array for several. */
const values = z
  .union([z.string().transform((one) => [one]), z.array(z.string())])
  .optional()
  .transform((some) => some ?? [])
const subjectParts = z.object({ CN: values, O: values })

export function inspectCertificate(pem: string): CertificateFacts {
  const certificate = parse(pem)
  const extensions = readExtensions(certificate.raw)
  const { CN: commonNames, O: organizations } = subjectParts.parse({
    ...certificate.toLegacyObject().subject,
  })
  const names = parseNested(extensions.get(extension.names) ?? emptyBytes)
  const issuerKey = parseNested(extensions.get(extension.issuerKeyId) ?? emptyBytes).find(
    ({ tag }) => tag === 0x80,
  )
  return {
    commonName: commonNames.at(-1),
    organizations,
    names: {
      dns: names
        .filter(({ tag }) => tag === 0x82)
        .map(({ content }) => Buffer.from(content).toString('latin1')),
      ip: names.filter(({ tag }) => tag === 0x87).map(({ content }) => formatIpBytes(content)),
    },
    usages: keyPurposes(certificate).flatMap((id) => purposes[id] ?? []),
    isCa: certificate.ca,
    serial: certificate.serialNumber.toLowerCase(),
    notBefore: certificate.validFromDate,
    notAfter: certificate.validToDate,
    subjectKeyId: hex(parseElements(extensions.get(extension.subjectKeyId) ?? emptyBytes)[0]?.content),
    issuerKeyId: hex(issuerKey?.content),
  }
}

function parse(pem: string): X509Certificate {
  try {
    return new X509Certificate(pem)
  } catch {
    throw new HyperkubeError('PKI_CERTIFICATE_NOT_READ', 'this is not a certificate in PEM', {
      hint: 'check the file: openssl x509 -noout -text -in FILE',
    })
  }
}

/**
 * Returns the extended key usages. Node.js calls them `keyUsage` and returns undefined for the certificate of
 * a CA.
 */
function keyPurposes(certificate: X509Certificate): readonly string[] {
  const listed: readonly string[] | undefined = certificate.keyUsage
  return listed ?? []
}

function hex(bytes: Uint8Array | undefined): string | undefined {
  return bytes === undefined ? undefined : Buffer.from(bytes).toString('hex')
}

const onePem = /-----BEGIN CERTIFICATE-----[\sA-Za-z0-9+/=]+-----END CERTIFICATE-----/g

/** Parses all PEM certificates in a text and skips invalid certificates. */
export function parseCertificates(text: string): readonly X509Certificate[] {
  return (text.match(onePem) ?? []).flatMap((pem) => {
    try {
      return [new X509Certificate(pem)]
    } catch {
      return []
    }
  })
}

/**
 * True if the text contains the certificate. Fingerprints are compared, so PEM formatting does not matter.
 */
export function hasCertificate(text: string, certificate: string): boolean {
  const wanted = new Set(parseCertificates(certificate).map(({ fingerprint256 }) => fingerprint256))
  return parseCertificates(text).some(({ fingerprint256 }) => wanted.has(fingerprint256))
}

/** Removes a certificate from a text with several PEM certificates. */
export function withoutCertificate(text: string, certificate: string): string {
  return parseCertificates(text)
    .filter((one) => !hasCertificate(one.toString(), certificate))
    .map((one) => `${one.toString().trim()}\n`)
    .join('')
}
