import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import type { GeneralName, Pkcs10CertificateRequest } from '@peculiar/x509'
import { HyperkubeError } from '../kit/errors.ts'
import { toPrintable } from '../kit/text.ts'
import { isStrictRequestDer, parseElements } from './der.ts'
import { canonicalAddress, canonicalNames } from './names.ts'
import type { CertificateSpec } from '../contract/certificate-spec.ts'
import type { X509 } from './x509.ts'

/** Maximum length of PEM input in characters. Requests of hosts are far smaller. */
const maxPemLength = 16_384
const onePem = /^\s*-----BEGIN CERTIFICATE REQUEST-----[\sA-Za-z0-9+/=]+-----END CERTIFICATE REQUEST-----\s*$/
const requestedExtensions = '1.2.840.113549.1.9.14'
const sequence = 0x30
const bitString = 0x03
const ecdsaWithSha256 = '300a06082a8648ce3d040302'
/** Tags of the signed part: version, subject, key, attributes. */
const partTags = [0x02, 0x30, 0x30, 0xa0]
const versionZero = '020100'
const alternativeNames = '2.5.29.17'

/**
 * Checks a certificate signing request and returns its public key as DER. The request must be well-formed,
 * signed with its own P-256 key, and ask for no more than the spec grants. The sender is not trusted.
 */
export function checkRequest(x509: X509, pem: string, spec: CertificateSpec): Uint8Array<ArrayBuffer> {
  const request = parse(x509, pem)
  const der = new Uint8Array(request.publicKey.rawData)
  const key = p256Key(der)
  if (key === undefined) {
    throw requestError('PKI_REQUEST_KEY', 'the key of a certificate request is not a P-256 key', spec, {
      hint: 'hyperkube uses P-256 keys; run the same command again, so that the host creates a new request',
    })
  }
  if (!isSigned(new Uint8Array(request.rawData), key)) {
    throw requestError('PKI_REQUEST_SIGNATURE', 'the signature of a certificate request is wrong', spec, {
      hint: 'the request was changed in transit, or created without the key; run the same command again',
    })
  }
  const excess = listExcess(x509, request, spec)
  if (excess.length > 0) {
    const message = `a certificate request exceeds the plan: ${excess.join(', ')}`
    throw requestError('PKI_REQUEST_EXCEEDS_PLAN', message, spec, {
      hint: 'check the plan: hyperkube plan; if the plan is correct, do not trust this host',
    })
  }
  return der
}

function parse(x509: X509, pem: string): Pkcs10CertificateRequest {
  try {
    if (pem.length <= maxPemLength && onePem.test(pem)) {
      const request = new x509.Pkcs10CertificateRequest(pem)
      if (!isStrictRequestDer(new Uint8Array(request.rawData)))
        throw new Error('the request is not strict DER')
      // The library decodes lazily. Decode everything here, so that an invalid part fails now.
      void [request.subjectName.toJSON(), request.publicKey.rawData, request.attributes, request.extensions]
      return request
    }
  } catch {
    // The library's error message would not help an operator.
  }
  throw new HyperkubeError(
    'PKI_REQUEST_NOT_READ',
    'a certificate request is not one PKCS#10 request in PEM',
    {
      hint: 'run the same command again, so that the host creates a new request',
    },
  )
}

function requestError(
  code: string,
  message: string,
  { subject }: CertificateSpec,
  details: { hint: string },
): HyperkubeError {
  return new HyperkubeError(code, `${message} (for ${subject.commonName})`, details)
}

/**
 * Returns the key if it is an uncompressed P-256 key on the named curve (91 bytes). Compressed keys and
 * explicit curve parameters are rejected.
 */
function p256Key(der: Uint8Array): KeyObject | undefined {
  try {
    const key = createPublicKey({ key: Buffer.from(der), format: 'der', type: 'spki' })
    return key.asymmetricKeyDetails?.namedCurve === 'prime256v1' && der.length === 91 ? key : undefined
  } catch {
    return undefined
  }
}

/**
 * True if the request is signed with the key. The outer structure is parsed here, because the library does
 * not check it strictly.
 */
function isSigned(der: Uint8Array, key: KeyObject): boolean {
  const [frame, ...more] = parseElements(der)
  const [signed, algorithm, signature, ...rest] = parseElements(frame?.content ?? new Uint8Array())
  if (frame?.tag !== sequence || frame.whole.length !== der.length || more.length + rest.length > 0)
    return false
  if (algorithm === undefined || hex(algorithm.whole) !== ecdsaWithSha256) return false
  if (signed?.tag !== sequence || signature?.tag !== bitString || signature.content[0] !== 0) return false
  if (!hasExactParts(signed.content)) return false
  return verify('sha256', signed.whole, key, signature.content.subarray(1))
}

/**
 * True if the signed part has exactly version 0, a subject, a key and attributes. Another parser could
 * otherwise read other names from the same bytes.
 */
function hasExactParts(content: Uint8Array): boolean {
  const parts = parseElements(content)
  const hasTags = parts.length === partTags.length && parts.every(({ tag }, index) => tag === partTags[index])
  return hasTags && hex(parts[0]?.whole ?? content) === versionZero
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}

function listExcess(x509: X509, request: Pkcs10CertificateRequest, spec: CertificateSpec): string[] {
  return [
    ...excessSubject(request, spec),
    ...excessAttributes(request),
    ...excessNames(x509, request, spec),
  ].map(toPrintable)
}

function excessSubject(request: Pkcs10CertificateRequest, { subject }: CertificateSpec): string[] {
  const granted = new Set([
    `CN=${subject.commonName}`,
    ...subject.organizations.map((organization) => `O=${organization}`),
  ])
  return request.subjectName
    .toJSON()
    .flatMap((part) =>
      Object.entries(part).flatMap(([type, values]) => values.map((value) => `${type}=${value}`)),
    )
    .filter((part) => !granted.has(part))
}

/**
 * Lists attributes and extensions that a request must not contain. Requests of hosts contain only one
 * extension, which holds the alternative names.
 */
function excessAttributes(request: Pkcs10CertificateRequest): string[] {
  const attributes = request.attributes.filter(isExcess(requestedExtensions))
  const extensions = request.extensions.filter(isExcess(alternativeNames))
  return [
    ...attributes.map(({ type }) => `the attribute ${type}`),
    ...extensions.map(({ type }) => `the extension ${type}`),
  ]
}

/** Returns a filter that is true for all entries except the first one of the allowed type. */
function isExcess(allowed: string) {
  return ({ type }: Typed, index: number, all: readonly Typed[]): boolean =>
    type !== allowed || all.findIndex((one) => one.type === allowed) !== index
}

interface Typed {
  readonly type: string
}

function excessNames(x509: X509, request: Pkcs10CertificateRequest, spec: CertificateSpec): string[] {
  const { dns, ip } = canonicalNames(spec.names)
  const granted = new Set([...dns.map((name) => `dns:${name}`), ...ip.map((address) => `ip:${address}`)])
  return request.extensions
    .flatMap((extension) =>
      extension instanceof x509.SubjectAlternativeNameExtension ? [...extension.names.items] : [],
    )
    .map(formatGeneralName)
    .filter((name) => !granted.has(name))
}

function formatGeneralName({ type, value }: GeneralName): string {
  if (type === 'dns') return `dns:${value.toLowerCase()}`
  return type === 'ip' ? `ip:${canonicalAddress(value)}` : `${type}:${value}`
}
