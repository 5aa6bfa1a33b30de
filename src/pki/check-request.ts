import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import type { GeneralName, Pkcs10CertificateRequest } from '@peculiar/x509'
import { HyperkubeError } from '../kit/errors.ts'
import { printable } from '../kit/printable.ts'
import { elements } from './der.ts'
import { canonicalAddress, sameSpelling } from './names.ts'
import type { Wish } from '../contract/certificate-spec.ts'
import type { X509 } from './x509.ts'

/** No request of ours comes near it. */
const largest = 16_384
const onePem = /^\s*-----BEGIN CERTIFICATE REQUEST-----[\sA-Za-z0-9+/=]+-----END CERTIFICATE REQUEST-----\s*$/
const requestedExtensions = '1.2.840.113549.1.9.14'
const sequence = 0x30
const bitString = 0x03
const ecdsaWithSha256 = '300a06082a8648ce3d040302'
const alternativeNames = '2.5.29.17'

/**
 * The public key of a request, as DER, after the request has been found to be whole, made by the holder of a P-256
 * key, and to ask for no more than is wished. Whoever sends one may be a host that is not ours any more.
 */
export function checkRequest(x509: X509, pem: string, wish: Wish): Uint8Array<ArrayBuffer> {
  const request = parse(x509, pem)
  const der = new Uint8Array(request.publicKey.rawData)
  const key = p256Key(der)
  if (key === undefined) {
    throw refused('PKI_REQUEST_KEY', 'the key of a certificate request is not a P-256 key', wish, {
      hint: 'hyperkube makes P-256 keys; have the host make its request again',
    })
  }
  if (!isSigned(new Uint8Array(request.rawData), key)) {
    throw refused('PKI_REQUEST_SIGNATURE', 'the signature of a certificate request is wrong', wish, {
      hint: 'it was changed on its way, or made without the key; have the host make it again',
    })
  }
  const excess = excessOf(x509, request, wish)
  if (excess.length > 0) {
    const message = `a certificate request asks for more than the plan grants: ${excess.join(', ')}`
    throw refused('PKI_REQUEST_EXCEEDS_PLAN', message, wish, {
      hint: 'plan again; if the plan is right, do not trust the host that asks',
    })
  }
  return der
}

function parse(x509: X509, pem: string): Pkcs10CertificateRequest {
  try {
    if (pem.length <= largest && onePem.test(pem)) {
      const request = new x509.Pkcs10CertificateRequest(pem)
      // The library decodes on demand: all of it now, or a broken part would surface later.
      void [request.subjectName.toJSON(), request.publicKey.rawData, request.attributes, request.extensions]
      return request
    }
  } catch {
    // What the library says is of no use to a person.
  }
  throw new HyperkubeError(
    'PKI_REQUEST_NOT_READ',
    'a certificate request is not one PKCS#10 request in PEM',
    {
      hint: 'have the host make it again',
    },
  )
}

function refused(
  code: string,
  message: string,
  { subject }: Wish,
  details: { hint: string },
): HyperkubeError {
  return new HyperkubeError(code, `${message} (for ${subject.commonName})`, details)
}

/** Exactly the 91 bytes of an uncompressed key on the named curve: no compressed ones, no curve spelt out. */
function p256Key(der: Uint8Array): KeyObject | undefined {
  try {
    const key = createPublicKey({ key: Buffer.from(der), format: 'der', type: 'spki' })
    return key.asymmetricKeyDetails?.namedCurve === 'prime256v1' && der.length === 91 ? key : undefined
  } catch {
    return undefined
  }
}

/**
 * Read by ourselves and verified by OpenSSL: the library does not look closely at the frame around what is signed.
 */
function isSigned(der: Uint8Array, key: KeyObject): boolean {
  const [frame, ...more] = elements(der)
  const [signed, algorithm, signature, ...rest] = elements(frame?.content ?? new Uint8Array())
  if (frame?.tag !== sequence || frame.whole.length !== der.length || more.length + rest.length > 0)
    return false
  if (algorithm === undefined || hex(algorithm.whole) !== ecdsaWithSha256) return false
  if (signed?.tag !== sequence || signature?.tag !== bitString || signature.content[0] !== 0) return false
  return verify('sha256', signed.whole, key, signature.content.subarray(1))
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}

function excessOf(x509: X509, request: Pkcs10CertificateRequest, wish: Wish): string[] {
  return [
    ...excessSubject(request, wish),
    ...excessAttributes(request),
    ...excessNames(x509, request, wish),
  ].map(printable)
}

function excessSubject(request: Pkcs10CertificateRequest, { subject }: Wish): string[] {
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

/** Alternative names are all that a request of ours has besides its subject, and it has them once. */
function excessAttributes(request: Pkcs10CertificateRequest): string[] {
  const attributes = request.attributes.filter(isExcess(requestedExtensions))
  const extensions = request.extensions.filter(isExcess(alternativeNames))
  return [
    ...attributes.map(({ type }) => `the attribute ${type}`),
    ...extensions.map(({ type }) => `the extension ${type}`),
  ]
}

/** All but the first of the one type that may be there. */
function isExcess(allowed: string) {
  return ({ type }: Typed, index: number, all: readonly Typed[]): boolean =>
    type !== allowed || all.findIndex((one) => one.type === allowed) !== index
}

interface Typed {
  readonly type: string
}

function excessNames(x509: X509, request: Pkcs10CertificateRequest, wish: Wish): string[] {
  const { dns, ip } = sameSpelling(wish.names)
  const granted = new Set([...dns.map((name) => `dns:${name}`), ...ip.map((address) => `ip:${address}`)])
  return request.extensions
    .flatMap((extension) =>
      extension instanceof x509.SubjectAlternativeNameExtension ? [...extension.names.items] : [],
    )
    .map(spelling)
    .filter((name) => !granted.has(name))
}

function spelling({ type, value }: GeneralName): string {
  if (type === 'dns') return `dns:${value.toLowerCase()}`
  return type === 'ip' ? `ip:${canonicalAddress(value)}` : `${type}:${value}`
}
