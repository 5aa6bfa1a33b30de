import { X509Certificate } from 'node:crypto'
import { z } from 'zod'
import { HyperkubeError } from '../kit/errors.ts'
import { elements, extensionsOf, inside } from './der.ts'
import type { Validity } from './lifetime.ts'
import { addressOf, type AlternativeNames } from './names.ts'
import type { Usage } from '../contract/certificate-spec.ts'

/** What a certificate says. */
export interface CertificateFacts extends Validity {
  readonly commonName: string | undefined
  readonly organizations: readonly string[]
  readonly names: AlternativeNames
  readonly usages: readonly Usage[]
  /** Whether it may sign others. */
  readonly authority: boolean
  /** Hex, as are the key ids. */
  readonly serial: string
  readonly subjectKeyId: string | undefined
  /** Which key signed it. */
  readonly authorityKeyId: string | undefined
}

const extension = { subjectKeyId: '551d0e', names: '551d11', authorityKeyId: '551d23' } as const
const purposes: Readonly<Record<string, Usage>> = {
  '1.3.6.1.5.5.7.3.1': 'server',
  '1.3.6.1.5.5.7.3.2': 'client',
}

const nothing = new Uint8Array()

/** A part that is there several times comes as a list. */
const values = z
  .union([z.string().transform((one) => [one]), z.array(z.string())])
  .optional()
  .transform((some) => some ?? [])
const subjectParts = z.object({ CN: values, O: values })

export function inspectCertificate(pem: string): CertificateFacts {
  const certificate = parse(pem)
  const extensions = extensionsOf(certificate.raw)
  const { CN: commonNames, O: organizations } = subjectParts.parse({
    ...certificate.toLegacyObject().subject,
  })
  const names = inside(extensions.get(extension.names) ?? nothing)
  const authorityKey = inside(extensions.get(extension.authorityKeyId) ?? nothing).find(
    ({ tag }) => tag === 0x80,
  )
  return {
    commonName: commonNames.at(-1),
    organizations,
    names: {
      dns: names
        .filter(({ tag }) => tag === 0x82)
        .map(({ content }) => Buffer.from(content).toString('latin1')),
      ip: names.filter(({ tag }) => tag === 0x87).map(({ content }) => addressOf(content)),
    },
    usages: keyPurposes(certificate).flatMap((id) => purposes[id] ?? []),
    authority: certificate.ca,
    serial: certificate.serialNumber.toLowerCase(),
    notBefore: certificate.validFromDate,
    notAfter: certificate.validToDate,
    subjectKeyId: hex(elements(extensions.get(extension.subjectKeyId) ?? nothing)[0]?.content),
    authorityKeyId: hex(authorityKey?.content),
  }
}

function parse(pem: string): X509Certificate {
  try {
    return new X509Certificate(pem)
  } catch {
    throw new HyperkubeError('PKI_CERTIFICATE_NOT_READ', 'this is not a certificate in PEM', {
      hint: 'openssl x509 -noout -text -in FILE shows what a file holds',
    })
  }
}

/** What Node calls key usage is the extended one, and missing in an authority's certificate. */
function keyPurposes(certificate: X509Certificate): readonly string[] {
  const listed: readonly string[] | undefined = certificate.keyUsage
  return listed ?? []
}

function hex(bytes: Uint8Array | undefined): string | undefined {
  return bytes === undefined ? undefined : Buffer.from(bytes).toString('hex')
}
